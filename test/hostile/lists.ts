import { bare, type Case, type Expected, fern, request } from './case'

const page = (...plants: readonly string[]): Expected => [
  200,
  `{"plants":[${plants.join(',')}],"next":null}`,
]
const one = page('{"id":1,"name":"Fern","tag":"green"}')
const none = page()
const tags: Expected = [200, '{"tags":[{"tag":"green","plants":1}],"next":null}']
const noTags: Expected = [200, '{"tags":[],"next":null}']

const queries = (path: string, answer: Expected, ...texts: readonly string[]): Case[] =>
  texts.map((query) => ({
    name: `${answer === 40002 ? 'refuses' : 'answers'} ${path}?${JSON.stringify(query).slice(0, 60)}`,
    bytes: bare(`GET ${path}?${query}`),
    answers: [answer],
  }))

/** Reads, and the parameters of a list. test/http/openapi-bounds.test.ts has the bounds of each parameter. */
export const lists: readonly Case[] = [
  ...queries('/plants', 40002, 'limit', 'limit=01', 'limit=%201', 'limit=1%00', 'limit=%EF%BC%91'),
  ...queries(
    '/plants',
    40002,
    'limit=1;after=2',
    'limit=1#x',
    'limit=1,2',
    'limit[]=1',
    'tag[x]=1',
  ),
  ...queries('/plants', 40002, `after=${'1'.repeat(5000)}`, "after=1'--", 'after=%2D', 'Limit=1'),
  ...queries('/plants', 40002, 'tag=%00', 'tag=a%00b', 'limit%20=1', 'x=1', '=1', '=', '?'),
  ...queries('/plants', 40002, '__proto__=1', '__proto__[tag]=1', 'constructor=1', 'toString=1'),
  ...queries(
    '/plants',
    40002,
    'limit=1&limit=1',
    'tag=&tag=',
    'after=1&tag=x&%61fter=2',
    'tag&tag',
  ),
  ...queries('/plants', 40002, 'order', 'order=desc%00', 'order=constructor', 'order=__proto__'),
  ...queries('/plants', 40002, 'order=asc;DROP%20TABLE%20plants', 'order=asc&%6frder=desc'),
  ...queries('/plants', 40002, 'limit=1&offset=1', 'access_token=x', 'id=1', 'limit=1&__proto__=1'),
  ...queries('/plants', one, '', '&&&', 'limit=%31', 'after=-9223372036854775808', 'tag=gr%65en'),
  ...queries('/plants', one, 'order=d%65sc', 'order=desc&tag=green&name=FERN&limit=1&after=2'),
  ...queries(
    '/plants',
    none,
    'after=9223372036854775807',
    'order=desc&after=1',
    'tag=',
    'tag=GREEN',
  ),
  ...queries('/plants', none, 'tag=green%20', 'tag=a,b', 'tag={"a":1}', "tag='%20OR%201=1"),
  ...queries('/plants', none, 'tag=gree_', 'tag=%25', 'tag=*', 'tag=%F0%9F%8C%B5', 'tag=null'),
  ...queries('/plants', none, `tag=${'a'.repeat(8000)}`, 'tag=green%0d%0aX:%20y', 'tag=../../etc'),
  ...queries('/tags', 40002, 'limit=0', 'limit=1001', 'limit=01', 'limit=', 'limit=1&limit=1'),
  ...queries('/tags', 40002, 'after=a%00', 'after=%ff', 'after=%ed%a0%80', 'after=a&after=a'),
  ...queries('/tags', 40002, 'tag=green', 'order=asc', 'After=a', 'after[]=a', '__proto__=1'),
  ...queries('/tags', tags, '', 'after=', 'after', 'after=gree', 'after=greem%F0%9F%8C%B5'),
  ...queries('/tags', tags, "after='%20OR%201=1", 'after=%25', `after=${'a'.repeat(8000)}`),
  ...queries('/tags', noTags, 'after=green', 'after=greeo', 'after=%F4%8F%BF%BF', 'after=null'),
  ...['a', 'api'].map(
    (host): Case => ({
      name: `lists by a query with a slash at the host ${host}`,
      bytes: bare('GET /plants?limit=1&tag=x/y', { host }),
      answers: [none],
    }),
  ),
  {
    name: 'ignores the body of a list request',
    bytes: request({ line: 'GET /plants HTTP/1.1', type: 'text/plain', body: 'x'.repeat(1000) }),
    answers: [one],
  },
  {
    name: 'ignores the chunked body of a GET',
    bytes: request({ line: 'GET /plants/1 HTTP/1.1', body: 'x'.repeat(1000), framing: 'chunked' }),
    after: 'closed',
    answers: [fern],
  },
]
