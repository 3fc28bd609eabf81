import { type Case, type Expected, latin1, type Row, request } from './case'

const body = '{"id":10,"name":"a"}'
const plant: Row = [10, 'a']
const size = body.length
const hex = size.toString(16)
const created: Expected = [200, '{"name":"a"}']

const withFields = (fields: readonly string[], sent: string): Uint8Array =>
  request({ fields, body: latin1(sent), framing: 'none' })

/** Fields about the length that the parser refuses, whatever is sent: no two readers may disagree about them. */
const ambiguous = (what: string, fields: readonly string[], sent = body): Case => ({
  name: `closes at ${what}`,
  bytes: withFields(fields, sent),
  answers: [400],
})

const framed = (what: string, fields: readonly string[], sent = body): Case => ({
  name: `takes ${what}`,
  bytes: withFields(fields, sent),
  answers: [created],
  stores: [plant],
})

const CHUNKED = 'Transfer-Encoding: chunked'
const oneChunk = `${hex}\r\n${body}\r\n0\r\n\r\n`
const length = (text: string): string => `Content-Length: ${text}`
const coding = (text: string): string => `Transfer-Encoding: ${text}`

const badChunks = (what: string, sent: string): Case => ambiguous(what, [CHUNKED], sent)
const goodChunks = (what: string, sent: string): Case => framed(what, [CHUNKED], sent)

const partial = (what: string, fields: readonly string[], sent: string): Case => ({
  name: `waits for the rest of ${what}`,
  bytes: withFields(fields, sent),
  answers: [],
  after: 'waiting',
})

const smuggled = 'DELETE /plants/1 HTTP/1.1\r\nHost: x\r\n\r\n'

/** Framing: requests that two readers could take for different ones. */
export const smuggling: readonly Case[] = [
  framed('the same length twice', [length(`${size}`), length(`${size}`)]),
  framed('a length with zeros before it', [length(`000${size}`)]),
  framed('a length with spaces and tabs around it', [`Content-Length:  \t${size} \t`]),
  framed('a length right behind the colon', [`Content-Length:${size}`]),
  ambiguous('two lengths', [length(`${size}`), length('5')]),
  ambiguous('two lengths the other way round', [length('5'), length(`${size}`)]),
  ambiguous('a length and zero', [length(`${size}`), length('0')]),
  ambiguous('a length that differs by a zero before it', [length(`${size}`), length(`0${size}`)]),
  ambiguous('two lengths in one field', [length(`${size}, 5`)]),
  ambiguous('the same length twice in one field', [length(`${size}, ${size}`)]),
  ambiguous('a length with a plus', [length(`+${size}`)]),
  ambiguous('a negative length', [length(`-${size}`)]),
  ambiguous('a length of minus zero', [length('-0')]),
  ambiguous('a length in hexadecimal digits', [length(`0x${hex}`)]),
  ambiguous('a length with a fraction', [length(`${size}.0`)]),
  ambiguous('a length with an exponent', [length('2e1')]),
  ambiguous('a length with letters behind it', [length(`${size}abc`)]),
  ambiguous('a length with a space in it', [length('2 0')]),
  ambiguous('a length in other digits', [length('\xd9\xa2\xd9\xa0')]),
  ambiguous('a length in quotes', [length(`"${size}"`)]),
  ambiguous('an empty length', [length('')]),
  ambiguous('a length that is a word', [length('abc')]),
  ambiguous('a length with a space before its colon', [`Content-Length : ${size}`]),
  ambiguous('a length with a tab before its colon', [`Content-Length\t: ${size}`]),
  ambiguous('a length with a zero byte', [length(`${size}\0`)]),
  ambiguous('a length with a form feed', [length(`\f${size}`)]),
  ambiguous('a length and chunks', [length(`${oneChunk.length}`), CHUNKED], oneChunk),
  ambiguous('chunks and a length', [CHUNKED, length(`${oneChunk.length}`)], oneChunk),
  ambiguous('chunks behind a length of a part', [length('4'), CHUNKED], `0\r\n\r\n${smuggled}`),
  ambiguous('chunks and a length of zero', [CHUNKED, length('0')], oneChunk),
  ambiguous('a length and a coding that is none', [length(`${size}`), coding('identity')]),
  ambiguous('a length and an empty coding', [length(`${size}`), coding('')]),
  framed('the coding in any case', [coding('CHUNKED')], oneChunk),
  framed('the name of the coding field in any case', ['tRANSFER-eNCODING: chunked'], oneChunk),
  framed('a coding with spaces and tabs around it', ['Transfer-Encoding: \tchunked \t'], oneChunk),
  ...[
    'identity',
    'gzip',
    'gzip, chunked',
    'chunked, gzip',
    'chunked, chunked',
    'chunked, identity',
    'identity, chunked',
    'xchunked',
    'chunkedx',
    'chunked;q=1',
    '"chunked"',
    "'chunked'",
    'chun ked',
    '\x0bchunked',
    'chunked\x0c',
    'chunked\0',
    '\xe2\x80\x8bchunked',
    'c\xc4\xa7unked',
    '',
  ].map((text) =>
    ambiguous(`the transfer coding ${JSON.stringify(text)}`, [coding(text)], oneChunk),
  ),
  framed('a coding in a list with empty elements', [coding(', chunked,')], oneChunk),
  ambiguous('two codings', [CHUNKED, CHUNKED], oneChunk),
  ambiguous('a coding and one that is none', [CHUNKED, coding('identity')], oneChunk),
  ambiguous('one that is none and a coding', [coding('identity'), CHUNKED], oneChunk),
  ambiguous('a coding with a space before its colon', ['Transfer-Encoding : chunked'], oneChunk),
  ambiguous('a folded coding', ['Transfer-Encoding:\r\n chunked'], oneChunk),
  ambiguous('a coding behind a bare line feed', ['X: y\nTransfer-Encoding: chunked'], oneChunk),
  ambiguous(
    'a coding behind a bare carriage return',
    ['X: y\rTransfer-Encoding: chunked'],
    oneChunk,
  ),
  {
    name: 'closes at chunks in HTTP/1.0',
    bytes: request({
      line: 'POST /plants HTTP/1.0',
      fields: [CHUNKED],
      body: oneChunk,
      framing: 'none',
    }),
    answers: [400],
  },
  ambiguous('a folded field', ['X: y\r\n z', length(`${size}`)]),
  ambiguous('a field folded by a tab', ['X: y\r\n\tz', length(`${size}`)]),
  ambiguous('a folded length', [`Content-Length:\r\n ${size}`]),
  ambiguous('a length behind a bare line feed', [`X: y\nContent-Length: ${size}`]),
  ambiguous('a length behind a bare carriage return', [`X: y\rContent-Length: ${size}`]),
  ambiguous('a bare carriage return in a value', ['X: a\rb', length(`${size}`)]),
  ambiguous('a carriage return too many', ['X: y\r', length(`${size}`)]),
  ambiguous('a head that ends in bare line feeds', [`Content-Length: ${size}\n\n${body}`]),
  goodChunks('a chunk', oneChunk),
  goodChunks('a chunk size in capitals', `${hex.toUpperCase()}\r\n${body}\r\n0\r\n\r\n`),
  goodChunks('a chunk size with zeros', `0000000000${hex}\r\n${body}\r\n0\r\n\r\n`),
  goodChunks('a last chunk of many zeros', `${hex}\r\n${body}\r\n0000000000\r\n\r\n`),
  goodChunks('a chunk extension', `${hex};a=b\r\n${body}\r\n0\r\n\r\n`),
  goodChunks('a chunk extension in quotes', `${hex};a="b;c"\r\n${body}\r\n0;d\r\n\r\n`),
  badChunks('an empty chunk size', `\r\n${body}\r\n0\r\n\r\n`),
  badChunks('a chunk size that is no number', `xyz\r\n${body}\r\n0\r\n\r\n`),
  badChunks('a chunk size with 0x', `0x${hex}\r\n${body}\r\n0\r\n\r\n`),
  badChunks('a chunk size with a minus', `-${hex}\r\n${body}\r\n0\r\n\r\n`),
  badChunks('a chunk size with a plus', `+${hex}\r\n${body}\r\n0\r\n\r\n`),
  badChunks('a chunk size with a space before it', ` ${hex}\r\n${body}\r\n0\r\n\r\n`),
  badChunks('a chunk size with a space behind it', `${hex} \r\n${body}\r\n0\r\n\r\n`),
  badChunks('a chunk size with a letter behind it', `${hex}g\r\n${body}\r\n0\r\n\r\n`),
  badChunks('a chunk size with an underscore', `1_4\r\n${body}\r\n0\r\n\r\n`),
  badChunks('a chunk size with a zero byte', `${hex}\0\r\n${body}\r\n0\r\n\r\n`),
  badChunks('a chunk size of 2^64 and more', `10000000000000014\r\n${body}\r\n0\r\n\r\n`),
  badChunks('a chunk size of 20 digits', `${'f'.repeat(20)}\r\n${body}\r\n0\r\n\r\n`),
  badChunks('a chunk size that ends in a line feed', `${hex}\n${body}\r\n0\r\n\r\n`),
  badChunks('a chunk size that ends in a carriage return', `${hex}\r${body}\r\n0\r\n\r\n`),
  badChunks('a line feed in a chunk extension', `${hex};a\nb\r\n${body}\r\n0\r\n\r\n`),
  badChunks('a chunk that ends in a line feed', `${hex}\r\n${body}\n0\r\n\r\n`),
  badChunks('a chunk that ends in nothing', `${hex}\r\n${body}0\r\n\r\n`),
  badChunks('a chunk longer than its size', `${hex}\r\n${body}xx\r\n0\r\n\r\n`),
  badChunks('a chunk shorter than its size', `18\r\n${body}\r\n0\r\n\r\n`),
  badChunks('a field behind the chunks', `${hex}\r\n${body}\r\n0\r\nX: y\r\n\r\n`),
  badChunks('credentials behind the chunks', `${hex}\r\n${body}\r\n0\r\nAuthorization: x\r\n\r\n`),
  partial('a body by its length', [length(`${size + 5}`)], body),
  partial('a body by its length of which nothing came', [length(`${size}`)], ''),
  partial('chunks without the last', [CHUNKED], `${hex}\r\n${body}\r\n`),
  partial('a chunk of 2 GiB', [CHUNKED], `7fffffff\r\n${body}`),
  partial('a chunk of 4 GiB and 20', [CHUNKED], `100000014\r\n${body}`),
  partial('half a chunk size', [CHUNKED], hex.slice(0, 1)),
]
