import { bare, type Case, type Expected, fern } from './case'

const gets = (what: string, answer: Expected, ...targets: readonly string[]): Case[] =>
  targets.map((target) => ({
    name: `${what}: ${JSON.stringify(target).slice(0, 60)}`,
    bytes: bare(`GET ${target}`),
    answers: [answer],
  }))

const unknownPaths = [
  ...['/nowhere', '/index.html', '/.env', '/favicon.ico', '/v1/plants', '/plant', '/openapi-json'],
  ...['/plants/', '/plants/1/', '/health/', '/metrics/', '/tags/', '/tags/green', '/token/'],
  ...['//plants/1', '/plants//1', '//', '//[', '//x:99999', '/\\plants', '/plants\\1'],
  ...['/Plants/1', '/PLANTS', '/%70lants/1', '/plants%2F1', '/plants%00', '/plants%3Flimit=1'],
  ...['/plants/1/..', '/plants/1/.', '/plants/..;/health', '/./plants/1', '/x/../plants/1'],
  ...['/plants/../plants/1', '/health/../metrics', '/%2e/plants/1', '/x/%2E%2e/plants/1'],
  ...['/x\\..\\plants\\1', 'http://localhost/health/../plants/1', 'http://plants/1', 'http://%/x'],
  ...['/plants/1/tag', '/plants/1/1', '/plants/batch/1', '/health/x', '/__proto__', '/constructor'],
  ...[`/x/${'a'.repeat(8000)}`, `/${'a/'.repeat(4000)}`, '/plants;x=1', '/health;/plants'],
  ...['/console/main.js/', '/console/main.js.br', '/console/..%2Fpages.js', '/console/%00'],
  ...['/console/constructor', '/docs/nope.js', '/docs/%2e%2e/console/main.js', '/docs/..'],
]

const notInt64 = [
  ...['x', '1.0', '1e0', '+1', '%2B1', '--1', '0x1', '1n', '-', '1,2', '1;x', '1#x', '1%23'],
  ...['1%00', '%001', '%201', '1%0a', '1%0d%0aX:%20y', '1%2f', '1%2f..', '1%', '%zz', '%ff'],
  ...['%c0%b1', '\xef\xbc\x91', '\xff', '%EF%BC%91', '%2531', '..', '.', '%2e%2e', '*', ':id'],
  ...['__proto__', 'null', 'NaN', '1\\', "1'--", '1%20OR%201=1', '1\x7f', '1e19'],
  ...[
    '9223372036854775808',
    '-9223372036854775809',
    '18446744073709551617',
    '00000000000000000001',
  ],
  '2'.repeat(10_000),
]

/** Targets. */
export const paths: readonly Case[] = [
  ...gets('has a page', 200, '/', '/?x', '/console/main.js', '/docs', '/docs/main.js', 'http://x'),
  ...gets('has no path', 40401, ...unknownPaths),
  ...['/plants/1?/health', 'http://localhost/plants/1'].map(
    (target): Case => ({
      name: `asks for credentials at ${target}`,
      bytes: bare(`GET ${target}`, { authorization: null }),
      answers: [40101],
    }),
  ),
  ...gets('finds the plant', fern, '/plants/%31', '/plants/1?', '/plants/1?x=1', '/plants/1?id=2'),
  ...gets('finds the plant', fern, 'http://other/plants/1', 'https://x:99999/plants/1'),
  ...gets('finds the plant', fern, 'http://a@b/plants/1'),
  ...gets('refuses an id that is not an int64', 40002, ...notInt64.map((id) => `/plants/${id}`)),
  ...gets('finds no such plant', 40402, '/plants/9223372036854775807', '/plants/-0', '/plants/2'),
  ...gets('finds no such plant', 40402, '/plants/-9223372036854775808'),
  ...['a', 'api', '[::]'].flatMap((host) =>
    ['GET /v1/health', 'PUT /v1/plants/1', 'GET /x/plants', 'GET /x/openapi.json'].map(
      (line): Case => ({
        name: `does not mistake a part of a path for the host ${host}: ${line}`,
        bytes: bare(line, { host }),
        answers: [40401],
      }),
    ),
  ),
]
