import { type Body, bodies, type Case, type Outcome } from './case'

const values = ['null', 'true', 'false', '[]', '{}', '["a"]', '{"a":1}'] as const

const wrong = (field: string, value: string, body: string): readonly [string, Body, number] => [
  `refuses ${value} as ${field}`,
  body,
  40002,
]

const both = (tail: string): string => `{"id":10,"name":"a",${tail}}`

const ignored = (what: string, tail: string): readonly [string, Body, Outcome] => [
  `ignores ${what}`,
  both(tail),
  [10, 'a'],
]

const missing = (body: string): readonly [string, Body, number] => [
  `takes no field from elsewhere: ${body}`,
  body,
  40002,
]

const keys = (count: number): string =>
  Array.from({ length: count }, (_, n) => `"k${n}":${n}`).join(',')

/** The types of fields, and which fields count. */
export const types: readonly Case[] = bodies([
  ...[...values, '"5"', '""', '"10"', '"1e3"', '[10]', '{"$numberLong":"10"}', '" 10 "'].map(
    (value) => wrong('an id', value, `{"id":${value},"name":"a"}`),
  ),
  ...[...values, '5', '0', '1e999'].map((value) =>
    wrong('a name', value, `{"id":10,"name":${value}}`),
  ),
  ...[...values, '5', '0', '1e999'].map((value) =>
    wrong('a tag', value, `{"id":10,"name":"a","tag":${value}}`),
  ),
  ...[
    ...values,
    '5',
    '9007199254740993',
    '1e999',
    '"a"',
    '""',
    '"{}"',
    '[{"id":10,"name":"a"}]',
  ].map((value) => wrong('a body', value, value)),
  ['refuses a plant that is a text of JSON', JSON.stringify('{"id":10,"name":"a"}'), 40002],
  ['refuses a plant that is wrapped', '{"plant":{"id":10,"name":"a"}}', 40002],
  ['refuses a plant without any field', '{}', 40002],
  ['refuses a plant without an id', '{"name":"a"}', 40002],
  ['refuses a plant without a name', '{"id":10}', 40002],
  ['refuses a plant with a tag alone', '{"tag":"a"}', 40002],
  ['refuses a plant whose every field is wrong', '{"id":"1","name":2,"tag":3}', 40002],
  ['takes an empty name', '{"id":10,"name":""}', [10, '']],
  ['takes an empty tag', '{"id":10,"name":"a","tag":""}', [10, 'a', '']],
  ['takes the fields in another order', '{"tag":"t","name":"a","id":10}', [10, 'a', 't']],
  ['counts the last of two ids', '{"id":10,"name":"a","id":11}', [11, 'a']],
  ['counts the last of two names', '{"id":10,"name":5,"name":"b"}', [10, 'b']],
  ['counts the last of two tags', both('"tag":null,"tag":"t"'), [10, 'a', 't']],
  ['counts the last id though the first is too large', '{"id":1e19,"name":"a","id":10}', [10, 'a']],
  [
    'counts the last id though its name is escaped',
    '{"id":10,"name":"a","\\u0069d":11}',
    [11, 'a'],
  ],
  ['refuses a plant whose last id is wrong', '{"id":10,"name":"a","id":"11"}', 40002],
  ['refuses a plant whose last id is rounded', '{"id":10,"name":"a","id":10.5}', 40002],
  ['refuses a plant whose last name is wrong', '{"id":10,"name":"a","name":null}', 40002],
  ['refuses a plant whose last tag is wrong', both('"tag":"t","tag":1'), 40002],
  ['counts the last of 10,000 ids', `{${'"id":10,'.repeat(10_000)}"id":11,"name":"a"}`, [11, 'a']],
  ignored('a field that is unknown', '"colour":"green"'),
  ignored('a field without a name', '"":1'),
  ignored('fields that differ in case', '"ID":11,"Name":"b","TAG":"t"'),
  ignored('fields with a space', '" id":11,"name ":"b"'),
  ignored('__proto__ with a value', '"__proto__":1'),
  ignored('__proto__ of null', '"__proto__":null'),
  ignored('__proto__ with the fields of a plant', '"__proto__":{"id":11,"name":"b","tag":"t"}'),
  ignored('__proto__ with an escaped name', '"__pr\\u006fto__":{"tag":"t"}'),
  ignored('__proto__ twice', '"__proto__":{"tag":"t"},"__proto__":[]'),
  ignored('__proto__ within __proto__', '"__proto__":{"__proto__":{"tag":"t"}}'),
  ignored('constructor', '"constructor":{"prototype":{"tag":"t"}}'),
  ignored('prototype', '"prototype":{"tag":"t"}'),
  ignored('the methods of every object', '"toString":1,"valueOf":2,"hasOwnProperty":3'),
  ignored('toJSON and then', '"toJSON":1,"then":"x"'),
  ignored('the accessors of every object', '"__defineGetter__":1,"__lookupSetter__":2'),
  ignored('an access token', '"access_token":"x"'),
  ignored('a batch', '"plants":[{"id":11,"name":"b"}]'),
  ignored('plants that are none', '"plants":[null,5,"x",[],{"id":1e19}]'),
  ignored('plants that are no array', '"plants":{"length":1e9}'),
  ignored('1,000 fields', keys(1000)),
  ignored('60,000 fields', keys(60_000)),
  ignored('60,000 fields that are indexes', keys(60_000).replaceAll('k', '')),
  ignored('a field whose name has 100,000 characters', `"${'k'.repeat(100_000)}":1`),
  ignored('fields that are like operators', '"$where":"1","$ne":null,"id[$gt]":0'),
  missing('{"__proto__":{"id":10,"name":"a"}}'),
  missing('{"id":10,"__proto__":{"name":"a"}}'),
  missing('{"name":"a","__proto__":{"id":10}}'),
  missing('{"id":10,"constructor":{"prototype":{"name":"a"}}}'),
  missing('{"id":10,"Name":"a"}'),
  missing('{"Id":10,"name":"a"}'),
  missing('{"id ":10,"name":"a"}'),
  missing('{"id":10,"name[]":"a"}'),
  missing('{"plant.id":10,"name":"a"}'),
  missing('{"id":10,"data":{"name":"a"}}'),
  [
    'keeps what looks like SQL',
    `{"id":10,"name":"'); DROP TABLE plants; --","tag":"' OR '1'='1"}`,
    [10, "'); DROP TABLE plants; --", "' OR '1'='1"],
  ],
  [
    'keeps what looks like HTML',
    '{"id":10,"name":"<script>alert(1)</script>"}',
    [10, '<script>alert(1)</script>'],
  ],
  [
    'keeps what looks like a template',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: that it is not replaced is the point.
    '{"id":10,"name":"${jndi:ldap://x/a}{{7*7}}%s%n"}',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: that it is not replaced is the point.
    [10, '${jndi:ldap://x/a}{{7*7}}%s%n'],
  ],
  ['keeps what looks like a header', '{"id":10,"name":"a\\r\\nX: y"}', [10, 'a\r\nX: y']],
  ['keeps what looks like a path', '{"id":10,"name":"../../etc/passwd"}', [10, '../../etc/passwd']],
  ['keeps the name __proto__', '{"id":10,"name":"__proto__"}', [10, '__proto__']],
  ['keeps the name null', '{"id":10,"name":"null","tag":"undefined"}', [10, 'null', 'undefined']],
  ['keeps spaces around a name', '{"id":10,"name":"  a  "}', [10, '  a  ']],
  ['refuses the fixture again', '{"id":1,"name":"Fern","tag":"green"}', 40901],
  [
    'refuses the fixture again by another spelling',
    '{"id":10e-1,"name":"Fer\\u006e","tag":"green"}',
    40901,
  ],
  [
    'refuses the id of the fixture with another name',
    '{"id":1,"name":"fern","tag":"green"}',
    40902,
  ],
  ['refuses the id of the fixture without its tag', '{"id":1,"name":"Fern"}', 40902],
])
