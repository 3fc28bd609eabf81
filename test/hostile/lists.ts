import { bare, type Case, type Expected, request } from './case'

const page = (...plants: readonly string[]): Expected => [
  200,
  `{"plants":[${plants.join(',')}],"next":null}`,
]
const fern = '{"id":1,"name":"Fern","tag":"green"}'

const queries = (answer: Expected, ...texts: readonly string[]): Case[] =>
  texts.map((query) => ({
    name: `${answer === 40002 ? 'refuses' : 'lists for'} the query ${JSON.stringify(query).slice(0, 60)}`,
    bytes: bare(`GET /plants?${query}`),
    answers: [answer],
  }))

const tags: Expected = [200, '{"tags":[{"tag":"green","plants":1}],"next":null}']
const noTags: Expected = [200, '{"tags":[],"next":null}']

const tagQueries = (answer: Expected, ...texts: readonly string[]): Case[] =>
  texts.map((query) => ({
    name: `${answer === 40002 ? 'refuses' : 'lists'} tags for the query ${JSON.stringify(query).slice(0, 60)}`,
    bytes: bare(`GET /tags?${query}`),
    answers: [answer],
  }))

/** The parameters of a list of tags. */
const tagLists: readonly Case[] = [
  ...tagQueries(40002, 'limit=0', 'limit=1001', 'limit=01', 'limit=', 'limit=+1', 'limit=1e2'),
  ...tagQueries(
    40002,
    'after=%00',
    'after=a%00',
    'after=%ff',
    'after=%ed%a0%80',
    'after=a&after=a',
  ),
  ...tagQueries(40002, 'tag=green', 'order=asc', 'name=a', 'After=a', 'after[]=a', '__proto__=1'),
  ...tagQueries(tags, '', 'after=', 'after', 'after=gree', 'limit=1', 'after=greem%F0%9F%8C%B5'),
  ...tagQueries(
    tags,
    "after='%20OR%201=1",
    'after=%25',
    'after=../..',
    `after=${'a'.repeat(8000)}`,
  ),
  ...tagQueries(noTags, 'after=green', 'after=greeo', 'after=%F4%8F%BF%BF', 'after=null'),
]

/** Reads, and the parameters of a list. */
export const lists: readonly Case[] = [
  ...queries(
    40002,
    'limit=0',
    'limit=1001',
    'limit=-1',
    'limit=01',
    'limit=1.0',
    'limit=1e2',
    'limit=',
  ),
  ...queries(
    40002,
    'limit',
    'limit=x',
    'limit=NaN',
    'limit=%201',
    'limit=+1',
    'limit=1%00',
    'limit=[1]',
  ),
  ...queries(
    40002,
    'limit=%EF%BC%91',
    'limit=1;after=2',
    'limit=1#x',
    'limit=1,2',
    'limit=99999999999',
  ),
  ...queries(40002, 'after=x', 'after=', 'after=1e3', 'after=1.0', 'after=9223372036854775808'),
  ...queries(
    40002,
    `after=${'1'.repeat(5000)}`,
    'after=null',
    "after=1'--",
    'after=-',
    'after=%2D',
  ),
  ...queries(
    40002,
    'tag=%00',
    'tag=a%00b',
    'x=1',
    'Limit=1',
    'limit%20=1',
    'limit[]=1',
    'tag[x]=1',
  ),
  ...queries(
    40002,
    '__proto__=1',
    '__proto__[tag]=1',
    'constructor=1',
    'toString=1',
    '=1',
    '=',
    '?',
  ),
  ...queries(40002, 'limit=1&limit=1', 'tag=&tag=', 'after=1&tag=x&%61fter=2', 'tag&limit=1&tag'),
  ...queries(
    40002,
    'order=',
    'order',
    'order=DESC',
    'order=desc%00',
    'order=%20desc',
    'order=descending',
    'order=name',
  ),
  ...queries(
    40002,
    'order=constructor',
    'order=__proto__',
    'order=asc;DROP%20TABLE%20plants',
    'order=0',
    'order=null',
    'Order=desc',
    'order[]=desc',
  ),
  ...queries(
    40002,
    'order=desc&order=desc',
    'order=asc&%6frder=desc',
    'order=desc&after=9223372036854775808',
    'order=desc&after=-9223372036854775809',
  ),
  ...queries(
    page(fern),
    'order=asc',
    'order=desc',
    'order=d%65sc',
    'order=desc&after=2',
    'order=desc&after=9223372036854775807',
    'order=desc&tag=green&name=FERN&limit=1',
  ),
  ...queries(page(), 'order=desc&after=1', 'order=desc&after=-9223372036854775808'),
  ...queries(40002, 'offset=1', 'access_token=x', 'id=1', 'limit=1&x=1', 'limit=1&__proto__=1'),
  ...queries(
    page(fern),
    'limit=1',
    'limit=1000',
    'limit=%31',
    'after=0',
    'after=-9223372036854775808',
  ),
  ...queries(page(fern), '&', '&&&', 'tag=green', 'tag=gr%65en', 'limit=1&after=0&tag=green'),
  ...queries(page(), 'after=1', 'after=9223372036854775807', 'tag=', 'tag=GREEN', 'tag=green%20'),
  ...queries(
    page(),
    'tag=a,b',
    'tag=[1]',
    'tag={"a":1}',
    'tag=%7B%22a%22:1%7D',
    'tag=true',
    'tag=null',
  ),
  ...queries(page(), "tag='%20OR%201=1", 'tag=gree_', 'tag=%25', 'tag=*', 'tag=%F0%9F%8C%B5'),
  ...queries(page(), `tag=${'a'.repeat(8000)}`, 'tag=green%0d%0aX:%20y', 'tag=../../etc/passwd'),
  ...['a', 'api'].map(
    (host): Case => ({
      name: `lists by a query with a slash at the host ${host}`,
      bytes: bare('GET /plants?limit=1&tag=x/y', { host }),
      answers: [page()],
    }),
  ),
  {
    name: 'lists nobody without credentials, though the query is wrong',
    bytes: bare('GET /plants?limit=x', { authorization: null }),
    answers: [40101],
  },
  {
    name: 'lists for a GET with a body that nobody reads',
    bytes: request({ line: 'GET /plants HTTP/1.1', type: 'text/plain', body: 'x'.repeat(1000) }),
    answers: [page(fern)],
  },
  {
    name: 'reads for a GET with a body in chunks that nobody reads',
    bytes: request({ line: 'GET /plants/1 HTTP/1.1', body: 'x'.repeat(1000), framing: 'chunked' }),
    after: 'closed',
    answers: [[200, fern]],
  },
  ...tagLists,
]
