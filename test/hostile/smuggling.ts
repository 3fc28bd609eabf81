import { type Case, type Expected, latin1, type Row, request } from './case'

const body = '{"id":10,"name":"a"}'
const plant: Row = [10, 'a']
const size = body.length
const hex = size.toString(16)
const created: Expected = [200, '{"name":"a"}']
const oneChunk = `${hex}\r\n${body}\r\n0\r\n\r\n`
const CHUNKED = 'Transfer-Encoding: chunked'
const smuggled = 'DELETE /plants/1 HTTP/1.1\r\nHost: x\r\n\r\n'

const framed = (verb: string, fields: readonly string[], sent: string): Omit<Case, 'answers'> => ({
  name: `${verb} ${JSON.stringify([...fields, sent.slice(0, 40)])}`,
  bytes: request({ fields, body: latin1(sent), framing: 'none' }),
})

const takes = (fields: readonly string[], sent = body): Case => ({
  ...framed('accepts', fields, sent),
  answers: [created],
  stores: [plant],
})

/** Framing that the parser refuses, whatever is sent: no two readers may disagree about it. */
const closes = (fields: readonly string[], sent = body): Case => ({
  ...framed('closes at', fields, sent),
  answers: [400],
})

const waits = (fields: readonly string[], sent: string): Case => ({
  ...framed('waits for the rest of', fields, sent),
  answers: [],
  after: 'waiting',
})

const length = (text: string | number): string => `Content-Length: ${text}`
const coding = (text: string): string => `Transfer-Encoding: ${text}`

const badLengths = [
  ...[`${size}, ${size}`, `+${size}`, `-${size}`, `0x${hex}`, `${size}.0`, '2e1', `${size}abc`],
  ...['2 0', '\xd9\xa2\xd9\xa0', '', `${size}\0`],
]

const badCodings = [
  ...['identity', 'gzip, chunked', 'chunked, gzip', 'chunked, chunked', 'xchunked', 'chunked;q=1'],
  ...['"chunked"', '\x0bchunked', 'chunked\0', ''],
]

const badChunks = [
  ...['', `0x${hex}`, `-${hex}`, ` ${hex}`, `${hex} `, `${hex}g`, '1_4', `${hex}\0`],
  ...['10000000000000014', 'f'.repeat(20), '18', `${hex};a\nb`],
].map((line) => `${line}\r\n${body}\r\n0\r\n\r\n`)

/** Framing: requests that two readers could take for different ones. */
export const smuggling: readonly Case[] = [
  takes([length(size), length(size)]),
  takes([`Content-Length:  \t000${size} \t`]),
  closes([length(size), length(5)]),
  closes([length(size), length(`0${size}`)]),
  ...badLengths.map((text) => closes([length(text)])),
  closes([`Content-Length : ${size}`]),
  closes([length(oneChunk.length), CHUNKED], oneChunk),
  closes([CHUNKED, length(oneChunk.length)], oneChunk),
  closes([length(4), CHUNKED], `0\r\n\r\n${smuggled}`),
  closes([length(size), coding('identity')]),
  takes(['tRANSFER-eNCODING: \tCHUNKED \t'], oneChunk),
  takes([coding(', chunked,')], oneChunk),
  ...badCodings.map((text) => closes([coding(text)], oneChunk)),
  closes([coding('identity'), CHUNKED], oneChunk),
  closes(['Transfer-Encoding : chunked'], oneChunk),
  closes(['Transfer-Encoding:\r\n chunked'], oneChunk),
  closes(['X: y\nTransfer-Encoding: chunked'], oneChunk),
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
  closes(['X: y\r\n z', length(size)]),
  closes([`Content-Length:\r\n ${size}`]),
  closes([`X: y\nContent-Length: ${size}`]),
  closes([`Content-Length: ${size}\n\n${body}`]),
  takes([CHUNKED], oneChunk),
  takes([CHUNKED], `00${hex.toUpperCase()};a="b;c"\r\n${body}\r\n000;d\r\n\r\n`),
  ...badChunks.map((sent) => closes([CHUNKED], sent)),
  closes([CHUNKED], `${hex}\n${body}\r\n0\r\n\r\n`),
  closes([CHUNKED], `${hex}\r\n${body}\n0\r\n\r\n`),
  closes([CHUNKED], `${hex}\r\n${body}0\r\n\r\n`),
  closes([CHUNKED], `${hex}\r\n${body}\r\n0\r\nAuthorization: x\r\n\r\n`),
  waits([length(size + 5)], body),
  waits([CHUNKED], `${hex}\r\n${body}\r\n`),
  waits([CHUNKED], `100000014\r\n${body}`),
  waits([CHUNKED], hex.slice(0, 1)),
]
