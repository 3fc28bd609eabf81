import { bare, type Case, create, fern, type Outcome, request } from './case'

const body = '{"id":10,"name":"a"}'
const accepted: Outcome = [10, 'a']

const types = (outcome: Outcome, ...texts: readonly string[]): Case[] =>
  texts.map((type) => {
    const shown = JSON.stringify(type.replace(/(; x=y|[;a]){50,}/, '…')).slice(0, 70)
    const verb = outcome === accepted ? 'accepts' : 'refuses'
    return create(`${verb} the content type ${shown}`, outcome, { body, type })
  })

const creates = (name: string, outcome: Outcome, ...fields: readonly string[]): Case =>
  create(name, outcome, { body, fields })

/** A read with these fields. */
const reads = (name: string, answer: Case['answers'][number], ...fields: string[]): Case => ({
  name,
  bytes: bare('GET /plants/1', { fields }),
  answers: [answer],
})

const fieldsOf = (count: number): string[] => Array.from({ length: count }, (_, n) => `X-${n}: y`)

/** Fields of the head: the type and the encoding of the body, and fields that are odd. */
export const headers: readonly Case[] = [
  ...types(accepted, 'APPLICATION/JSON; CHARSET=UTF-8', 'application/json; charset="utf-8"'),
  ...types(accepted, 'application/json\t;\tcharset=utf-8;', 'application/json; version=2'),
  ...types(accepted, 'application/json; x="charset=utf-8"', 'application/json;;; x=1'),
  ...types(accepted, 'application/json; x="a;b, \\" \xe9" ; charset=utf-8; charset=utf-8'),
  ...types(accepted, `application/json${'; x=y'.repeat(1600)}`),
  ...types(
    41501,
    '',
    'json',
    'text/json',
    'text/plain',
    'application/json5',
    'application/ld+json',
  ),
  ...types(
    41501,
    'application/problem+json',
    'application/merge-patch+json',
    'application/*',
    '*/*',
  ),
  ...types(41501, 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', '/json'),
  ...types(41501, 'application /json', '"application/json"', 'xapplication/json'),
  ...types(41501, 'application/json\xa0', 'application/json, text/plain'),
  ...types(41501, 'text/plain; application/json', 'application/json charset=utf-8'),
  ...types(41501, 'application/json; charset=', 'application/json; charset=""'),
  ...types(41501, 'application/json; charset=utf8', 'application/json; charset=utf-16'),
  ...types(41501, 'application/json; charset=latin1', "application/json; charset='utf-8'"),
  ...types(41501, 'application/json; charset="utf-8', 'application/json; charset=utf-8"'),
  ...types(41501, 'application/json; charset =utf-8', 'application/json; charset= utf-8'),
  ...types(41501, 'application/json; charset=utf-8; charset=latin1'),
  ...types(41501, 'application/json; charset=latin1; charset=utf-8'),
  ...types(41501, 'application/json; x="a"; Charset="latin1"', 'application/json; charset=utf-8x'),
  ...types(41501, 'application/json; x="a; charset=latin1', 'application/json; x=y z'),
  ...types(41501, 'application/json; x', 'application/json; x=', 'application/json; =y'),
  ...types(41501, `application/json${'; x=y'.repeat(1600)}; z`, `${'a'.repeat(8000)}/json`),
  ...types(41501, `application/json${';'.repeat(8000)}x`),
  ...types(41501, `application/json${' '.repeat(15_500)}x`),
  create('refuses a body without a content type', 41501, { body, type: null }),
  creates('refuses two content types, both JSON', 41501, 'Content-Type: application/json'),
  creates('refuses a second content type', 41501, 'Content-Type: text/plain'),
  ...['gzip', 'identity', 'x-gzip', 'gzip, gzip', ''].map((coding) =>
    creates(`refuses the content encoding "${coding}"`, 41501, `Content-Encoding: ${coding}`),
  ),
  create('refuses a compressed body', 41501, {
    body: Bun.gzipSync(Buffer.from(body)),
    fields: ['Content-Encoding: gzip'],
  }),
  creates('serves a request that does not accept JSON', accepted, 'Accept: text/html'),
  creates('obeys no other method', accepted, 'X-HTTP-Method-Override: DELETE'),
  creates('obeys no other path', accepted, 'X-Original-URL: /health', 'X-Rewrite-URL: /metrics'),
  creates('obeys no condition', accepted, 'If-Match: "x"', 'If-None-Match: *', 'Range: bytes=0-1'),
  creates('accepts an unknown expectation', accepted, 'Expect: 200-ok'),
  {
    name: 'sends 100 Continue before it checks the token, and then refuses',
    bytes: request({ authorization: 'Bearer x', body, fields: ['Expect: 100-continue'] }),
    answers: [100, 40102],
  },
  reads('ignores an offer of websockets', fern, 'Connection: Upgrade', 'Upgrade: websocket'),
  reads('ignores an offer of HTTP/2', fern, 'Connection: Upgrade', 'Upgrade: h2c'),
  reads('ignores fields named like those of every object', fern, '__proto__: x', 'toString: z'),
  reads('ignores a field of Latin-1', fern, 'X: \xe9\xff'),
  reads('ignores a field of 8,000 bytes', fern, `X: ${'y'.repeat(8000)}`),
  reads('ignores a field whose name has 5,000 letters', fern, `${'X'.repeat(5000)}: y`),
  reads('ignores 150 fields', fern, ...fieldsOf(150)),
  reads('ignores an empty field', fern, 'X:'),
  reads('ignores an attack on a shell', fern, 'User-Agent: () { :; }; echo x', 'X: $(id) `id`'),
  ...['X', ': y', 'X Y: z', 'X : y', 'X(: y', 'X\xe9: y', 'X\0: y', 'X: a\0b', 'X: a\x1b[31m'].map(
    (field) => reads(`closes at the field ${JSON.stringify(field)}`, 400, field),
  ),
  reads('closes at 1,000 fields', 431, ...fieldsOf(1000)),
  reads('closes at a field of 20,000 bytes', 431, `X: ${'y'.repeat(20_000)}`),
]
