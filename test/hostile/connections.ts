import {
  bare,
  type Case,
  concat,
  type Expected,
  fern,
  latin1,
  type RequestParts,
  request,
} from './case'

const one = request({ body: '{"id":10,"name":"a"}' })
const two = request({ body: '{"id":11,"name":"b"}' })
const get = bare('GET /plants/1')
const missing = bare('GET /plants/2')
const smuggled = bare('DELETE /plants/1')
const tooLarge = ' '.repeat(1_048_577)

const pipelined = (
  name: string,
  answers: readonly Expected[],
  ...requests: Uint8Array[]
): Case => ({
  name,
  bytes: concat(...requests),
  answers,
})

/** A request is refused, and the one in its body or behind it is what it looks like, no more and no less. */
const kept = (what: string, error: number, parts: RequestParts): Case =>
  pipelined(
    `reads a request after ${what}`,
    [error, fern],
    request({ body: smuggled, ...parts }),
    get,
  )

const notHttp = (what: string, text: string, status = 400): Case => ({
  name: `closes at ${what}`,
  bytes: latin1(text),
  answers: [status],
})

const partial = (what: string, bytes: Uint8Array): Case => ({
  name: `waits for the rest of ${what}`,
  bytes,
  answers: [],
  after: 'waiting',
})

/** A create followed by bytes that the parser refuses: the 400 must not answer a create that was stored. */
const trailing = (what: string, text: string, status = 400): Case => ({
  name: `stores nothing if it closes at ${what} after a create`,
  bytes: concat(one, latin1(text)),
  answers: [status],
})

const cut = (what: string, bytes: Uint8Array): Case => ({
  name: `stores nothing if the client disconnects within ${what}`,
  bytes,
  answers: [],
  isCut: true,
  after: 'closed',
})

const inChunks = (sent: string): Uint8Array =>
  request({ body: sent, framing: 'none', fields: ['Transfer-Encoding: chunked'] })

/** Input of one connection: several requests, half a request, and malformed HTTP. */
export const connections: readonly Case[] = [
  pipelined('answers requests in order', [fern, 40402, fern], get, missing, get),
  pipelined(
    'answers 100 requests at once',
    Array<Expected>(100).fill(fern),
    ...Array(100).fill(get),
  ),
  pipelined(
    'keeps the connection after a 304',
    [304, fern],
    bare('GET /plants/1', { fields: ['If-None-Match: *'] }),
    get,
  ),
  {
    ...pipelined(
      'answers a create after other requests',
      [fern, 40402, [200, '{"name":"a"}']],
      get,
      missing,
      one,
    ),
    stores: [[10, 'a']],
  },
  {
    // Bun closes where a request comes in behind one whose answer takes a turn of the event loop. That is within
    // what is promised: nothing was acknowledged, and the retry's 40901 tells.
    name: 'closes at a request after a pending create, or answers the create',
    bytes: concat(one, two),
    answers: [[200, '{"name":"a"}']],
    after: 'closed',
    stores: [[10, 'a']],
    isUnknown: true,
  },
  ...(['length', 'chunked'] as const).flatMap((framing) => [
    kept(`one without credentials, by ${framing}`, 40101, { authorization: null, framing }),
    kept(`one of another type, by ${framing}`, 41501, { type: 'text/plain', framing }),
    kept(`one for an unknown path, by ${framing}`, 40401, {
      line: 'POST /nowhere HTTP/1.1',
      framing,
    }),
    kept(`one with a wrong method, by ${framing}`, 40501, {
      line: 'PATCH /plants HTTP/1.1',
      framing,
    }),
    kept(`one whose body is not JSON, by ${framing}`, 40001, { framing }),
    kept(`one whose body is too large, by ${framing}`, 41301, { body: tooLarge, framing }),
  ]),
  pipelined(
    'reads no request in the body of a GET',
    [fern, fern],
    request({ line: 'GET /plants/1 HTTP/1.1', body: smuggled }),
    get,
  ),
  {
    ...pipelined(
      'reads no request in the chunks of a GET, nor after them',
      [fern],
      request({ line: 'GET /plants/1 HTTP/1.1', body: smuggled, framing: 'chunked' }),
      get,
    ),
    after: 'closed',
  },
  pipelined('closes at malformed bytes after a request', [fern, 400], get, latin1('x\r\n\r\n')),
  pipelined(
    'closes at a body longer than its length',
    [40001, 400],
    request({ body: '{"id":10', framing: 'none', fields: ['Content-Length: 5'] }),
  ),
  {
    name: 'answers no request after one that asks to close',
    bytes: concat(bare('GET /plants/1', { fields: ['Connection: close'] }), smuggled),
    answers: [fern],
    after: 'closed',
  },
  notHttp('the hello of TLS', `\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03${'a'.repeat(500)}`),
  notHttp('the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  notHttp(
    'the line of a proxy',
    'PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\nGET /plants/1 HTTP/1.1\r\nHost: x\r\n\r\n',
  ),
  notHttp('bytes of every value', `${'\xff\xfe\x00\x01'.repeat(100)}\r\n\r\n`),
  notHttp('a body alone', '{"id":10,"name":"a"}\r\n\r\n'),
  notHttp('a response', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'),
  notHttp('a head of bare line feeds', 'GET /plants/1 HTTP/1.1\nHost: x\n\n', 505),
  notHttp('a first field that is folded', 'GET /plants/1 HTTP/1.1\r\n X: y\r\nHost: x\r\n\r\n'),
  notHttp('20,000 bytes that never end a line', 'a'.repeat(20_000), 431),
  trailing('a line end', '\r\n'),
  trailing('a malformed line', 'x\r\n\r\n'),
  trailing('another version', 'GET /plants/1 HTTP/9.9\r\nHost: x\r\n\r\n', 505),
  trailing('a request without a host', 'GET /plants/1 HTTP/1.1\r\n\r\n'),
  {
    // Bun does not answer a client that has ended its side, unless it can at once.
    name: 'closes if the client ends its side after a create, or answers it',
    bytes: one,
    answers: [[200, '{"name":"a"}']],
    isCut: true,
    after: 'closed',
    stores: [[10, 'a']],
    isUnknown: true,
  },
  {
    name: 'answers a client that ends its side after a read',
    bytes: get,
    answers: [fern],
    isCut: true,
    after: 'closed',
  },
  cut('nothing', latin1('')),
  cut('a head', one.subarray(0, 60)),
  cut('a body', one.subarray(0, -1)),
  cut(
    'a body that is a plant already',
    request({
      body: '{"id":10,"name":"a"}',
      framing: 'none',
      fields: ['Content-Length: 30'],
    }),
  ),
  cut('a chunk', inChunks('14\r\n{"id":10,')),
  cut('chunks that are a plant already', inChunks('14\r\n{"id":10,"name":"a"}\r\n')),
  cut('a chunk size', inChunks('14\r\n{"id":10,"name":"a"}\r\n0')),
  partial('half a line', latin1('GET /plants/1 HT')),
  partial('a head without its end', get.subarray(0, -2)),
]
