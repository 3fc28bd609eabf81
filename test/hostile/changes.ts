import {
  type Body,
  bare,
  type Case,
  type Expected,
  fern,
  type RequestParts,
  type Row,
  request,
} from './case'

/** A change by a body, and the plants that it leaves; without them, the fixture alone. */
const change = (line: string, body: Body, answer: Expected, ...left: readonly Row[]): Case => ({
  name: `${line} ${JSON.stringify(Buffer.from(body).toString('latin1').slice(0, 70))}`,
  bytes: request({ line: `${line} HTTP/1.1`, body }),
  answers: [answer],
  ...(left.length > 0 ? { replaces: left } : {}),
})

const refused = (line: string, error: number, ...sent: readonly Body[]): Case[] =>
  sent.map((body) => change(line, body, error))

const conditional = (ifMatch: string, answer: Expected): Case => ({
  name: `patches under the condition ${ifMatch.slice(0, 20)}`,
  bytes: request({
    line: 'PATCH /plants/1 HTTP/1.1',
    body: '{"name":"b"}',
    fields: [`If-Match: ${ifMatch}`],
  }),
  answers: [answer],
})

const remove = (path: string, answer: Expected, parts: RequestParts = {}): Case => ({
  name: `DELETE ${path} ${JSON.stringify(parts)}`,
  bytes: bare(`DELETE ${path}`, parts),
  answers: [answer],
  ...(answer === 204 ? { replaces: [] } : {}),
})

const plants = (...texts: readonly string[]): string => `{"plants":[${texts.join(',')}]}`
const numbered = (count: number): string =>
  plants(...Array.from({ length: count }, (_, n) => `{"id":${n + 10},"name":"a"}`))

const PUT = 'PUT /plants/1'
const PATCH = 'PATCH /plants/1'
const CREATES = 'POST /plants/batch'
const PUTS = 'PUT /plants/batch'
const PATCHES = 'PATCH /plants/batch'
const DELETES = 'POST /plants/batch-delete'
const LINES = [PUT, PATCH, CREATES, PUTS, PATCHES, DELETES]

const FERN: Row = [1, 'Fern', 'green']
const other = '{"id":10,"name":"a"}'
const tooLong = `{"id":1,"name":"${'a'.repeat(1_048_576)}"}`
const notUtf8 = Buffer.from('{"name":"\xe9"}', 'latin1')
const wholeBodies = ['null', '[]', '"{}"', '{"__proto__":{"plants":[{"id":1,"name":"b"}]}}']

/** Changes, deletions and batches. */
export const changes: readonly Case[] = [
  ...LINES.flatMap((line) => [
    ...refused(line, 40001, '', '{"plants":[{"id":1,"name":"b"}', '['.repeat(100_000), notUtf8),
    ...refused(line, 40002, ...wholeBodies),
    ...refused(line, 41301, tooLong),
  ]),
  ...[CREATES, PUTS, PATCHES, DELETES].flatMap((line) => [
    ...refused(line, 40002, '{"plants":{"0":{"id":10,"name":"a"},"length":1}}'),
    ...refused(line, 40002, plants('{"id":1,"name":"b"}', '{"id":1e0,"name":"c"}')),
    ...refused(line, 40002, plants(plants(other)), plants(other, 'null'), plants(other, '{}')),
    ...refused(line, 40002, plants('{"id":"9","name":"a"}', other)),
    ...refused(line, 40002, plants(other, '{"id":11.5,"name":"a"}')),
    ...refused(line, 40002, plants(other, '{"id":11,"name":"\\ud800"}')),
    ...refused(line, 40002, plants(...Array(1000).fill('{"id":{},"name":[],"tag":1}'))),
    ...refused(line, 40002, plants(...Array(100).fill(`{"id":"${'9'.repeat(1000)}","name":1}`))),
  ]),
  change(PUT, '{"id":10e-1,"name":"b"}', [200, '{"id":1,"name":"b"}'], [1, 'b']),
  change(PUT, '{"name":"b","__proto__":{"tag":"x"}}', [200, '{"id":1,"name":"b"}'], [1, 'b']),
  ...refused(PUT, 40002, '{"id":1,"id":2,"name":""}', '{"name":"\\u0000"}', '{"name":"\\ud800"}'),
  change('PUT /plants/-9223372036854775808', '{"name":"b"}', 40402),
  ...refused('PUT /plants/x', 40002, '{"name":"b"}'),
  {
    name: 'refuses a replacement without a body',
    bytes: bare('PUT /plants/1', { fields: ['Content-Type: application/json'] }),
    answers: [40001],
  },
  change(PATCH, '{}', fern),
  change(PATCH, '{"tag":"a","tag":null}', [200, '{"id":1,"name":"Fern"}'], [1, 'Fern']),
  ...refused(PATCH, 40002, '{"constructor":{"tag":"x"}}', '{"id":1,"id":2}', '{"tag":"\\udc00"}'),
  ...['W/"x"', '"x", "y"', '","', `"${'x'.repeat(5000)}"`, '"\xe9"'].map((tag) =>
    conditional(tag, 41201),
  ),
  ...['"x', '*, *', '", "', '"'.repeat(5001), ','.repeat(5000), '"\x7f"'].map((tag) =>
    conditional(tag, 40002),
  ),
  remove('/plants/1', 204),
  {
    name: 'ignores the body of a DELETE',
    bytes: request({ line: 'DELETE /plants/1 HTTP/1.1', type: null, body: '{"id":2}' }),
    answers: [204],
    replaces: [],
  },
  ...['x', '*', '1%20OR%201=1', '1,2', `${2n ** 64n + 1n}`].map((id) =>
    remove(`/plants/${id}`, 40002),
  ),
  remove('/plants/1', 40101, { authorization: null }),
  change(
    CREATES,
    plants(
      '{"id":9007199254740993,"name":"a"}',
      '{"id":9007199254740992,"name":"b"}',
      '{"id":1e1,"name":"c"}',
    ),
    [200, '{"created":3}'],
    FERN,
    [10, 'c'],
    [9007199254740992n, 'b'],
    [9007199254740993n, 'a'],
  ),
  change(
    CREATES,
    `{"x":1,"__proto__":{"plants":[]},"plants":[],"plants":[{"id":10,"name":"a","x":2}]}`,
    [200, '{"created":1}'],
    FERN,
    [10, 'a'],
  ),
  ...refused(CREATES, 40002, numbered(20_000)),
  change(PUTS, plants('{"id":1,"name":"Fern","tag":"green","x":1}'), [
    200,
    '{"created":0,"replaced":0,"unchanged":1}',
  ]),
  change(
    PUTS,
    plants('{"id":1.0,"name":"b","tag":"c","id":1}'),
    [200, '{"created":0,"replaced":1,"unchanged":0}'],
    [1, 'b', 'c'],
  ),
  change(
    PATCHES,
    plants('{"id":1.0,"tag":"b","was":{"name":"Fern","tag":"green"}}'),
    [200, '{"created":0,"patched":1,"unchanged":0,"conflicts":[],"missing":[]}'],
    [1, 'Fern', 'b'],
  ),
  change(
    PATCHES,
    plants('{"id":1,"tag":"b","was":{"name":"fern"}}', '{"id":9223372036854775807}'),
    [
      200,
      '{"created":0,"patched":0,"unchanged":0,"conflicts":[{"id":1}],"missing":[{"id":9223372036854775807}]}',
    ],
  ),
  ...['{"\\ud800":1}', '{"__proto__":{"name":"Fern"}}', '["green"]', '{"tag":"\\ud800"}'].flatMap(
    (was) => refused(PATCHES, 40002, plants(`{"id":1,"tag":"b","was":${was}}`)),
  ),
  change(DELETES, plants('{"id":1.0,"name":"Fern"}', '{"id":9223372036854775807,"name":"Fern"}'), [
    200,
    '{"deleted":0,"conflicts":[{"id":1}],"missing":[{"id":9223372036854775807}]}',
  ]),
]
