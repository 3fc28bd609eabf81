import { bare, type Case, type Expected, fern, request } from './case'

/** A line that the parser refuses, so that the daemon never sees the request. */
const closes = (what: string, line: string, status: number): Case => ({
  name: `closes at ${what}`,
  bytes: request({ line }),
  answers: [status],
})

/** Bun closes the connection without a word where it does not know the method. */
const unknownMethod = (method: string): Case => ({
  name: `closes at the method ${method.slice(0, 20)}`,
  bytes: request({ line: `${method} /plants HTTP/1.1` }),
  answers: [],
  after: 'closed',
})

const unlike = (path: string, ...names: readonly string[]): Case[] =>
  names.map((method) => ({
    name: `does not know the method ${method} at ${path}`,
    bytes: bare(`${method} ${path}`),
    answers: [40501],
  }))

const host = (value: string, target: string, answer: Expected, method = 'GET'): Case => ({
  name: `is not impressed by the host ${JSON.stringify(value).slice(0, 40)} at ${method} ${target}`,
  bytes: bare(`${method} ${target}`, { host: value }),
  answers: [answer],
})

const oddHosts = [
  '',
  ' ',
  ':',
  '[',
  '[::1',
  'a b',
  'a/b',
  'a?b',
  'a#b',
  'a@b',
  'a\\b',
  'x:99999',
  '%00',
  '<script>',
  '..',
  'a,b',
  '\xff',
  'localhost/health?',
  'localhost/plants/1#',
  'a'.repeat(5000),
]

/** Methods, versions, hosts, and lines that are none. */
export const methods: readonly Case[] = [
  closes('a target of 20,000 letters', `GET /${'a'.repeat(20_000)} HTTP/1.1`, 431),
  closes('a relative target', 'GET plants/1 HTTP/1.1', 400),
  closes('a target that is a star', 'GET * HTTP/1.1', 400),
  closes('a target of another scheme', 'GET ftp://x/plants/1 HTTP/1.1', 400),
  closes('a target that begins with a backslash', 'GET \\plants HTTP/1.1', 400),
  closes('a request without a target', 'GET HTTP/1.1', 400),
  closes('a space in the target', 'GET /plants/ 1 HTTP/1.1', 505),
  closes('a tab in the target', 'GET /plants/\t1 HTTP/1.1', 505),
  closes('a zero byte in the target', 'GET /plants/1\0 HTTP/1.1', 505),
  closes('a line feed in the target', 'GET /plants/\n1 HTTP/1.1', 505),
  closes('two spaces before the target', 'GET  /plants/1 HTTP/1.1', 400),
  closes('two spaces behind the target', 'GET /plants/1  HTTP/1.1', 505),
  closes('tabs for spaces', 'GET\t/plants/1\tHTTP/1.1', 505),
  closes('a space before the method', ' GET /plants/1 HTTP/1.1', 400),
  closes('an empty line before the request', '\r\nGET /plants/1 HTTP/1.1', 400),
  closes('a line without a method', '/plants/1 HTTP/1.1', 400),
  closes('HTTP/2.0', 'GET /plants/1 HTTP/2.0', 505),
  closes('HTTP/1.2', 'GET /plants/1 HTTP/1.2', 505),
  closes('HTTP/0.9', 'GET /plants/1 HTTP/0.9', 505),
  closes('a request without a version', 'GET /plants/1', 505),
  closes('half a version', 'GET /plants/1 HTTP/1.', 505),
  closes('a version in small letters', 'GET /plants/1 http/1.1', 505),
  closes('a version with two digits', 'GET /plants/1 HTTP/1.10', 505),
  closes('a space behind the version', 'GET /plants/1 HTTP/1.1 ', 505),
  closes('the preface of HTTP/2', 'PRI * HTTP/2.0', 400),
  ...['FOO', 'get', 'Post', 'BREW', 'POSTS', 'A'.repeat(5000)].map(unknownMethod),
  closes('a zero byte in the method', 'PO\0ST /plants HTTP/1.1', 505),
  closes('a space in the method', 'PO ST /plants HTTP/1.1', 400),
  ...unlike('/plants', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'CONNECT', 'PROPFIND', 'LOCK'),
  ...unlike('/plants/1', 'POST', 'OPTIONS', 'TRACE', 'CONNECT', 'MKCOL'),
  ...unlike('/plants/batch', 'GET', 'DELETE', 'OPTIONS', 'TRACE'),
  ...unlike('/plants/batch-delete', 'GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE'),
  ...unlike('/health', 'POST', 'PUT', 'DELETE', 'OPTIONS'),
  ...unlike('/tags', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT'),
  ...unlike('/metrics', 'POST', 'DELETE', 'TRACE'),
  {
    name: 'knows no such path before no such method, type or credentials',
    bytes: request({ line: 'PATCH /nowhere HTTP/1.1', authorization: null, type: 'x', body: '{' }),
    answers: [40401],
  },
  {
    name: 'does not know the method before it asks for credentials',
    bytes: request({ line: 'PATCH /plants HTTP/1.1', authorization: null, type: 'x', body: '{' }),
    answers: [40501],
  },
  {
    name: 'answers a HEAD as a GET, without a body',
    bytes: bare('HEAD /plants/1'),
    method: 'HEAD',
    answers: [200],
  },
  {
    name: 'answers a HEAD that is refused without a body',
    bytes: bare('HEAD /plants/2'),
    method: 'HEAD',
    answers: [404],
  },
  {
    name: 'answers a HEAD without credentials without a body',
    bytes: bare('HEAD /plants/1', { authorization: null }),
    method: 'HEAD',
    answers: [401],
  },
  ...oddHosts.flatMap((value) => [
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
