import { bare, type Case, type Expected, fern, request } from './case'

/** Lines that the parser refuses with a status, so that the daemon never sees the request. */
const closes = (status: number, ...lines: readonly string[]): Case[] =>
  lines.map((line) => ({
    name: `closes at the line ${JSON.stringify(line).slice(0, 40)}`,
    bytes: request({ line }),
    answers: [status],
  }))

const host = (value: string, target: string, answer: Expected, method = 'GET'): Case => ({
  name: `ignores the host ${JSON.stringify(value).slice(0, 40)} at ${method} ${target}`,
  bytes: bare(`${method} ${target}`, { host: value }),
  answers: [answer],
})

const ODD_HOSTS = [
  ...['', ' ', ':', '[', '[::1', 'a b', 'a/b', 'a?b', 'a#b', 'a@b', 'a\\b', 'x:99999', '%00', '..'],
  ...['a,b', '\xff', 'localhost/health?', 'localhost/plants/1#', 'a'.repeat(5000)],
]

/** Methods, versions, hosts, and lines that are none. test/http/methods.test.ts has the methods of each path. */
export const methods: readonly Case[] = [
  ...closes(431, `GET /${'a'.repeat(20_000)} HTTP/1.1`),
  ...closes(400, 'GET plants/1 HTTP/1.1', 'GET * HTTP/1.1', 'GET ftp://x/plants/1 HTTP/1.1'),
  ...closes(400, 'GET HTTP/1.1', 'GET  /plants/1 HTTP/1.1', ' GET /plants/1 HTTP/1.1'),
  ...closes(400, '\r\nGET /plants/1 HTTP/1.1', '/plants/1 HTTP/1.1', 'PO ST /plants HTTP/1.1'),
  ...closes(505, 'GET /plants/ 1 HTTP/1.1', 'GET /plants/1\0 HTTP/1.1', 'GET /plants/\n1 HTTP/1.1'),
  ...closes(505, 'GET /plants/1  HTTP/1.1', 'GET\t/plants/1\tHTTP/1.1', 'PO\0ST /plants HTTP/1.1'),
  ...closes(505, 'GET /plants/1 HTTP/2.0', 'GET /plants/1 HTTP/0.9', 'GET /plants/1 HTTP/1.'),
  ...closes(505, 'GET /plants/1', 'GET /plants/1 http/1.1', 'GET /plants/1 HTTP/1.1 '),
  // Bun closes the connection without an answer where it does not know the method.
  ...['FOO', 'get', 'POSTS', 'A'.repeat(5000)].map(
    (method): Case => ({
      name: `closes at the method ${method.slice(0, 20)}`,
      bytes: request({ line: `${method} /plants HTTP/1.1` }),
      answers: [],
      after: 'closed',
    }),
  ),
  ...['TRACE /plants', 'CONNECT /plants', 'LOCK /plants', 'MKCOL /plants/1', 'TRACE /health'].map(
    (line): Case => ({ name: `does not know ${line}`, bytes: bare(line), answers: [40501] }),
  ),
  ...ODD_HOSTS.flatMap((value) => [
    host(value, '/plants/1', fern),
    host(value, '/nowhere', 40401),
    host(value, '/plants/1', 40501, 'POST'),
  ]),
  ...['GET /plants/1', 'GET /health', 'GET /nowhere', 'POST /plants/1'].flatMap((line) =>
    ['b', 'a', ''].map(
      (second): Case => ({
        name: `refuses two hosts, the second ${JSON.stringify(second)}, at ${line}`,
        bytes: bare(line, { host: 'a', fields: [`Host: ${second}`] }),
        answers: [40002],
        after: 'closed',
      }),
    ),
  ),
  {
    name: 'closes at a request without a host',
    bytes: bare('GET /plants/1', { host: null }),
    answers: [400],
  },
  {
    name: 'answers HTTP/1.0 without a host, and closes',
    bytes: request({ line: 'GET /plants/1 HTTP/1.0', host: null }),
    answers: [fern],
    after: 'closed',
  },
]
