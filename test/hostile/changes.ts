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

const put = (name: string, path: string, body: Body, answer: Expected, replaces?: Row): Case => ({
  name,
  bytes: request({ line: `PUT ${path} HTTP/1.1`, body }),
  answers: [answer],
  ...(replaces ? { replaces: [replaces] } : {}),
})

const patch = (
  name: string,
  body: Body,
  answer: Expected,
  replaces?: Row,
  parts: RequestParts = {},
): Case => ({
  name,
  bytes: request({ line: 'PATCH /plants/1 HTTP/1.1', body, ...parts }),
  answers: [answer],
  ...(replaces ? { replaces: [replaces] } : {}),
})

const remove = (name: string, path: string, answer: Expected, replaces?: Row[]): Case => ({
  name,
  bytes: bare(`DELETE ${path}`),
  answers: [answer],
  ...(replaces ? { replaces } : {}),
})

const batch = (name: string, body: Body, answer: Expected, stores: readonly Row[] = []): Case => ({
  name,
  bytes: request({ line: 'POST /plants/batch HTTP/1.1', body }),
  answers: [answer],
  stores,
})

const puts = (name: string, body: Body, answer: Expected, replaces?: Row): Case =>
  put(name, '/plants/batch', body, answer, replaces)

const patches = (name: string, body: Body, answer: Expected, replaces?: Row): Case => ({
  name,
  bytes: request({ line: 'PATCH /plants/batch HTTP/1.1', body }),
  answers: [answer],
  ...(replaces ? { replaces: [replaces] } : {}),
})

const deletes = (name: string, body: Body, answer: Expected): Case => ({
  name,
  bytes: request({ line: 'POST /plants/batch-delete HTTP/1.1', body }),
  answers: [answer],
})

const plants = (...texts: readonly string[]): string => `{"plants":[${texts.join(',')}]}`
const numbered = (count: number): Row[] =>
  Array.from({ length: count }, (_, n) => [n + 10, 'a'] as const)
const toText = ([id, name]: Row): string => `{"id":${id},"name":"${name}"}`

/** Changes, deletions and batches. */
export const changes: readonly Case[] = [
  put('replaces a plant', '/plants/1', '{"name":"b"}', [200, '{"id":1,"name":"b"}'], [1, 'b']),
  put(
    'replaces a plant by a body with the same id',
    '/plants/1',
    '{"id":10e-1,"name":"b"}',
    [200, '{"id":1,"name":"b"}'],
    [1, 'b'],
  ),
  put('refuses to replace by another id', '/plants/1', '{"id":2,"name":"b"}', 40002),
  put('refuses to replace by an id that is a text', '/plants/1', '{"id":"1","name":"b"}', 40002),
  put('refuses to replace by the last of two ids', '/plants/1', '{"id":1,"id":2,"name":""}', 40002),
  put(
    'replaces a plant and ignores __proto__',
    '/plants/1',
    '{"name":"b","__proto__":{"tag":"x"}}',
    [200, '{"id":1,"name":"b"}'],
    [1, 'b'],
  ),
  put('replaces no plant that is missing', '/plants/2', '{"name":"b"}', 40402),
  put(
    'replaces no plant at an edge of int64',
    '/plants/-9223372036854775808',
    '{"name":"b"}',
    40402,
  ),
  put('refuses to replace by no name', '/plants/1', '{"tag":"b"}', 40002),
  put('refuses to replace by a name that is a number', '/plants/1', '{"name":5}', 40002),
  put('refuses to replace by a name with U+0000', '/plants/1', '{"name":"\\u0000"}', 40002),
  put('refuses to replace by an unpaired surrogate', '/plants/1', '{"name":"\\ud800"}', 40002),
  put('refuses to replace by a tag of null', '/plants/1', '{"name":"b","tag":null}', 40002),
  put('refuses to replace by an array', '/plants/1', '[{"name":"b"}]', 40002),
  put('refuses to replace by null', '/plants/1', 'null', 40002),
  put('refuses to replace by no JSON', '/plants/1', '{"name":"b"', 40001),
  put('refuses to replace by nothing', '/plants/1', '', 40001),
  put(
    'refuses to replace by what is not UTF-8',
    '/plants/1',
    Buffer.from('{"name":"\xe9"}', 'latin1'),
    40001,
  ),
  put('refuses to replace by too much', '/plants/1', `{"name":"${'a'.repeat(1_048_576)}"}`, 41301),
  put('refuses to replace by 100,000 levels', '/plants/1', '['.repeat(100_000), 40001),
  put('refuses to replace what is no int64', '/plants/x', '{"name":"b"}', 40002),
  put(
    'refuses to replace what is beyond int64',
    '/plants/9223372036854775808',
    '{"name":"b"}',
    40002,
  ),
  {
    name: 'refuses to replace without a body',
    bytes: bare('PUT /plants/1', { fields: ['Content-Type: application/json'] }),
    answers: [40001],
  },
  {
    name: 'refuses to replace by another type',
    bytes: request({ line: 'PUT /plants/1 HTTP/1.1', type: 'text/plain', body: '{"name":"b"}' }),
    answers: [41501],
  },
  patch(
    'patches a name',
    '{"name":"b"}',
    [200, '{"id":1,"name":"b","tag":"green"}'],
    [1, 'b', 'green'],
  ),
  patch('removes a tag', '{"tag":null}', [200, '{"id":1,"name":"Fern"}'], [1, 'Fern'], {
    type: 'application/merge-patch+json',
  }),
  patch('patches nothing by nothing', '{}', fern),
  patch(
    'refuses a patch by __proto__ and constructor',
    '{"__proto__":{"name":"x"},"constructor":{"tag":"x"}}',
    40002,
  ),
  patch(
    'patches by the last of two keys',
    '{"tag":"a","tag":null}',
    [200, '{"id":1,"name":"Fern"}'],
    [1, 'Fern'],
  ),
  patch('refuses a patch that removes the name', '{"name":null}', 40002),
  patch('refuses a patch whose last of two ids is another', '{"id":1,"id":2}', 40002),
  patch('refuses a patch that is an array', '[{"op":"remove","path":"/tag"}]', 40002),
  patch('refuses a patch that is null', 'null', 40002),
  patch('refuses a patch with U+0000', '{"tag":"\\u0000"}', 40002),
  patch('refuses a patch with an unpaired surrogate', '{"tag":"\\udc00"}', 40002),
  patch('refuses a patch of another type', '{}', 41501, undefined, {
    type: 'text/plain',
  }),
  patch('refuses a patch that is too long', `{"tag":"${'a'.repeat(1_048_576)}"}`, 41301),
  patch('refuses a patch of 100,000 levels', '['.repeat(100_000), 40001),
  ...['W/"x"', '"x"', '"x", "y"', '","', `"${'x'.repeat(5000)}"`, '"\xe9"'].map((tag) =>
    patch(
      `does not patch what has not the tag ${tag.slice(0, 20)}`,
      '{"name":"b"}',
      41201,
      undefined,
      {
        fields: [`If-Match: ${tag}`],
      },
    ),
  ),
  ...['', 'x', '"x', '*, *', '"x" "y"', '", "', '"'.repeat(5001), ','.repeat(5000), '"\x7f"'].map(
    (tag) =>
      patch(`refuses a condition of ${tag.slice(0, 20)}`, '{"name":"b"}', 40002, undefined, {
        fields: [`If-Match: ${tag}`],
      }),
  ),
  remove('deletes a plant', '/plants/1', 204, []),
  remove('deletes no plant that is missing', '/plants/2', 40402),
  remove('deletes nothing for what is no int64', '/plants/x', 40002),
  remove('deletes nothing for a star', '/plants/*', 40002),
  remove('deletes nothing for a condition', '/plants/1%20OR%201=1', 40002),
  remove('deletes nothing for two ids', '/plants/1,2', 40002),
  remove('deletes nothing beyond int64', `/plants/${2n ** 64n + 1n}`, 40002),
  {
    name: 'deletes nobody without credentials',
    bytes: bare('DELETE /plants/1', { authorization: null }),
    answers: [40101],
  },
  {
    name: 'deletes a plant for a DELETE with a body that nobody reads',
    bytes: request({ line: 'DELETE /plants/1 HTTP/1.1', type: null, body: '{"id":2}' }),
    answers: [204],
    replaces: [],
  },
  batch(
    'creates a batch',
    plants('{"id":10,"name":"a"}', '{"id":11,"name":"b","tag":"t"}'),
    [200, '{"created":2}'],
    [
      [10, 'a'],
      [11, 'b', 't'],
    ],
  ),
  batch(
    'creates a batch with ids that are not safe',
    plants(
      '{"id":9007199254740993,"name":"a"}',
      '{"id":9007199254740992,"name":"b"}',
      '{"id":1e1,"name":"c"}',
    ),
    [200, '{"created":3}'],
    [
      [10, 'c'],
      [9007199254740992n, 'b'],
      [9007199254740993n, 'a'],
    ],
  ),
  batch(
    'creates a batch of 1,000',
    plants(...numbered(1000).map(toText)),
    [200, '{"created":1000}'],
    numbered(1000),
  ),
  batch(
    'ignores unknown fields of a batch',
    `{"x":1,"__proto__":{"plants":[]},"plants":[{"id":10,"name":"a","x":2}]}`,
    [200, '{"created":1}'],
    [[10, 'a']],
  ),
  batch(
    'counts the last of two batches in a body',
    `{"plants":[],"plants":[{"id":10,"name":"a"}]}`,
    [200, '{"created":1}'],
    [[10, 'a']],
  ),
  batch('refuses a batch of 1,001', plants(...numbered(1001).map(toText)), 40002),
  batch('refuses a batch of 20,000', plants(...numbered(20_000).map(toText)), 40002),
  batch('refuses an empty batch', plants(), 40002),
  batch('refuses a batch without plants', '{}', 40002),
  batch('refuses a batch of null', '{"plants":null}', 40002),
  batch(
    'refuses a batch that is an object',
    '{"plants":{"0":{"id":10,"name":"a"},"length":1}}',
    40002,
  ),
  batch('refuses a batch that is a text', '{"plants":"[]"}', 40002),
  batch('refuses a batch that is an array', '[{"id":10,"name":"a"}]', 40002),
  batch(
    'refuses a batch within __proto__',
    '{"__proto__":{"plants":[{"id":10,"name":"a"}]}}',
    40002,
  ),
  batch('refuses a batch within a batch', plants(plants('{"id":10,"name":"a"}')), 40002),
  batch(
    'refuses a batch whose last plant is wrong',
    plants('{"id":10,"name":"a"}', '{"id":11}'),
    40002,
  ),
  batch(
    'refuses a batch whose first plant is wrong',
    plants('{"id":"9","name":"a"}', '{"id":10,"name":"a"}'),
    40002,
  ),
  batch('refuses a batch with null', plants('{"id":10,"name":"a"}', 'null'), 40002),
  batch(
    'refuses a batch with an id that is rounded',
    plants('{"id":10,"name":"a"}', '{"id":11.5,"name":"a"}'),
    40002,
  ),
  batch(
    'refuses a batch with an unpaired surrogate',
    plants('{"id":10,"name":"a"}', '{"id":11,"name":"\\ud800"}'),
    40002,
  ),
  batch(
    'refuses a batch whose every plant is wrong',
    plants(...Array.from({ length: 1000 }, () => '{"id":{},"name":[],"tag":1}')),
    40002,
  ),
  batch(
    'refuses a batch whose plants have long ids that are wrong',
    plants(...Array.from({ length: 100 }, () => `{"id":"${'9'.repeat(1000)}","name":1}`)),
    40002,
  ),
  puts(
    'leaves the fixture as it is in a batch of puts',
    plants('{"id":1,"name":"Fern","tag":"green","x":1}'),
    [200, '{"created":0,"replaced":0,"unchanged":1}'],
  ),
  puts(
    'replaces the fixture in a batch of puts',
    plants('{"id":1.0,"name":"b","tag":"c","id":1}'),
    [200, '{"created":0,"replaced":1,"unchanged":0}'],
    [1, 'b', 'c'],
  ),
  puts('refuses 1,001 puts', plants(...numbered(1001).map(toText)), 40002),
  puts(
    'refuses puts that repeat an id',
    plants('{"id":1,"name":"b"}', '{"id":1e0,"name":"c"}'),
    40002,
  ),
  puts('refuses puts whose last plant is wrong', plants('{"id":1,"name":"b"}', '{"id":11}'), 40002),
  puts('refuses puts within __proto__', '{"__proto__":{"plants":[{"id":1,"name":"b"}]}}', 40002),
  patches(
    'patches the fixture under a condition',
    plants('{"id":1.0,"tag":"b","was":{"name":"Fern","tag":"green"}}'),
    [200, '{"created":0,"patched":1,"unchanged":0,"conflicts":[],"missing":[]}'],
    [1, 'Fern', 'b'],
  ),
  patches(
    'leaves the fixture where the condition differs by case',
    plants('{"id":1,"tag":"b","was":{"name":"fern"}}', '{"id":9223372036854775807}'),
    [
      200,
      '{"created":0,"patched":0,"unchanged":0,"conflicts":[{"id":1}],"missing":[{"id":9223372036854775807}]}',
    ],
  ),
  patches('refuses patches that repeat an id', plants('{"id":1,"tag":"b"}', '{"id":1e0}'), 40002),
  ...['"x":null', '"Name":"Fern"', '"__proto__":{"name":"Fern"}', '"\\ud800":1'].map((field) =>
    patches(
      `refuses a condition on the unknown field ${field}`,
      plants(`{"id":1,"tag":"b","was":{"tag":"green",${field}}}`),
      40002,
    ),
  ),
  patches(
    'refuses a condition beside its plants',
    '{"plants":[{"id":1,"tag":"b"}],"was":{"name":"x"}}',
    40002,
  ),
  patches('refuses a condition of null', plants('{"id":1,"tag":"b","was":null}'), 40002),
  patches(
    'refuses a condition with a name of null',
    plants('{"id":1,"tag":"b","was":{"name":null}}'),
    40002,
  ),
  patches(
    'refuses a condition that is a list',
    plants('{"id":1,"tag":"b","was":["green"]}'),
    40002,
  ),
  patches(
    'refuses patches with a surrogate',
    plants(String.raw`{"id":1,"tag":"b","was":{"tag":"\ud800"}}`),
    40002,
  ),
  patches('refuses patches cut off', '{"plants":[{"id":1,"tag":"b"}', 40001),
  deletes(
    'leaves the fixture in a batch of deletes without its tag',
    plants('{"id":1.0,"name":"Fern"}', '{"id":9223372036854775807,"name":"Fern"}'),
    [200, '{"deleted":0,"conflicts":[{"id":1}],"missing":[{"id":9223372036854775807}]}'],
  ),
  deletes('refuses 1,001 deletes', plants(...numbered(1001).map(toText)), 40002),
  deletes(
    'refuses deletes that repeat an id',
    plants('{"id":1,"name":"b"}', '{"id":1e0,"name":"c"}'),
    40002,
  ),
  deletes('refuses to delete by the ids alone', plants('{"id":1}'), 40002),
  deletes('refuses deletes cut off', '{"plants":[{"id":1,"name":"b"}', 40001),
  puts('refuses puts cut off', '{"plants":[{"id":1,"name":"b"}', 40001),
  batch(
    'refuses a batch with the fixture as it is',
    plants('{"id":10,"name":"a"}', '{"id":1,"name":"Fern","tag":"green"}'),
    40901,
  ),
  batch(
    'refuses a batch with the id of the fixture',
    plants('{"id":10,"name":"a"}', '{"id":1,"name":"b"}'),
    40902,
  ),
  batch(
    'refuses a batch that has an id twice',
    plants('{"id":10,"name":"a"}', '{"id":10,"name":"b"}'),
    40002,
  ),
  batch('refuses a batch that is no JSON', '{"plants":[{"id":10,"name":"a"},]}', 40001),
  batch('refuses a batch that does not end', plants('{"id":10,"name":"a"}').slice(0, -1), 40001),
  batch(
    'refuses a batch beyond the limit',
    plants(`{"id":10,"name":"${'a'.repeat(1_048_576)}"}`),
    41301,
  ),
]
