import { type Body, type Case, concat, create, type Outcome } from './case'
import { judge } from './oracle'

const plant = '{"id":10,"name":"a"}'
const more = (fields: string): string => `{"id":10,"name":"a",${fields}}`
const idOf = (text: string): string => `{"id":${text},"name":"a"}`
const nameOf = (text: string): string => `{"id":10,"name":${text}}`

function outcomeOf(body: Body): Outcome {
  const verdict = judge(Buffer.from(body))
  if (verdict === null || typeof verdict === 'number') return verdict ?? 40001
  const { id, name, tag } = verdict
  return tag === undefined ? [id, name] : [id, name, tag]
}

/** Creates with these bodies, which are answered as the oracle says. */
const creates = (what: string, ...sent: readonly Body[]): Case[] =>
  sent.map((body, index) => {
    const shown = JSON.stringify(Buffer.from(body).toString('latin1')).slice(0, 50)
    return create(`${what} ${index}: ${shown}`, outcomeOf(body), { body })
  })

/** A name of these bytes. */
const bytes = (...values: readonly number[]): Body =>
  concat('{"id":10,"name":"', new Uint8Array(values), '"}')

const BOM = new Uint8Array([0xef, 0xbb, 0xbf])
const digits = (count: number, digit = '1'): string => digit.repeat(count)
const keys = (count: number, prefix = ''): string =>
  Array.from({ length: count }, (_, n) => `"${prefix}${n}":${n}`).join(',')

const syntax = creates(
  'JSON (RFC 8259)',
  ...['', ' ', '//', 'nul', 'undefined', '{', '{"id":10,"name":"a"', '{"id":10,"name":"a\\"}'],
  ...[`${plant}}`, `${plant},`, `${plant}x`, `${plant}\n${plant}`, `${plant}\0`, `)]}',\n${plant}`],
  ...['{"id":10,"name":"a",}', '{"id":10 "name":"a"}', '{id:10,"name":"a"}', more('"x":[1,]')],
  ...["{'id':10,'name':'a'}", '{"id":10,/* c */"name":"a"}', 'id=10&name=a', '{"id":,"name":"a"}'],
  ...['{\u00a0"id":10,"name":"a"}', '{\u2028"id":10,"name":"a"}', more('"x":NaN'), more('"x":01')],
  ...['"\\x41"', '"\\u12"', '"\\U00000041"', '"a\nb"', '"a\0b"', '"a\u001fb"'].map(nameOf),
  ' \t\r\n{ "id"\t:\n10\r,"name" : "a" }\r\n\t ',
  '{"\\u0069\\u0064":10,"n\\u0061me":"a"}',
  nameOf('"\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00E9\\u0001\\u001f\u007f\u2028"'),
)

const encodings = creates(
  'UTF-8 (RFC 3629)',
  ...[[0x80], [0xe9], [0xc3], [0xe2, 0x82], [0xc0, 0xaf], [0xc0, 0x80], [0xe0, 0x9f, 0xbf]].map(
    (values) => bytes(...values),
  ),
  ...[
    [0xed, 0xa0, 0x80],
    [0xed, 0xa0, 0xbc, 0xed, 0xbc, 0xb5],
    [0xf4, 0x90, 0x80, 0x80],
    [0xff],
  ].map((values) => bytes(...values)),
  concat('{\xa0', plant.slice(1)),
  concat(BOM, plant),
  concat(BOM, BOM, plant),
  BOM,
  concat(plant, BOM),
  Buffer.from(plant, 'utf16le'),
  Buffer.from(`\ufeff${plant}`, 'utf16le').swap16(),
  Bun.gzipSync(Buffer.from(plant)),
  new Uint8Array(1000).map((_, at) => at),
)

const texts = creates(
  'a text',
  ...[
    '"\\ud800"',
    '"\\udfff"',
    '"a\\udbff"',
    '"\\udc00\\ud800"',
    '"\\u0000"',
    '"a\\u0000b"',
  ].flatMap((text) => [nameOf(text), more(`"tag":${text}`)]),
  ...['"\\ud83c\\udf35"', '"🌵 𐍈 \u{10ffff}"', '"\ufffe\uffff\ufdd0\ufffd"', '"\ufeffa"'].map(
    nameOf,
  ),
  ...['"é e\u0301"', '"\u202ea\u2066"', `"a${'\u0301'.repeat(1000)}"`, '""', '"  a  "'].map(nameOf),
  ...['"a\\r\\nX: y"', '"../../etc/passwd"', '"__proto__"', '"null"', '"%s%n"'].map(nameOf),
  `{"id":10,"name":"'); DROP TABLE plants; --","tag":"' OR '1'='1"}`,
  '{"id":10,"name":"<script>alert(1)</script>","tag":""}',
  more('"\\ud800":"\\udc00","\\u0000":"\\u0000"'),
  '{"id":10,"name\\u0000":"a"}',
  '{"ｉｄ":10,"name":"a"}',
)

const ids = creates(
  'an id',
  ...['01', '-01', '+1', '.5', '5.', '1e', '1e5.0', '--1', '1_000', '1n', '0x10'].map(idOf),
  ...['NaN', '-Infinity', '１', '1\0'].map(idOf),
  ...['9223372036854775808', '-9223372036854775809', '18446744073709551617', '1e19'].map(idOf),
  ...['1e309', '-1e309', '1e999999999', '9.3e18', '9223372036854775807e1'].map(idOf),
  ...['9.223372036854775808e18', '0.9223372036854775808e19', '100000000000000000e2'].map(idOf),
  ...['1.5', '-0.1', '1e-1', '15e-1', '5e-324', '1e-999999999', '4503599627370496.25'].map(idOf),
  ...['1.0000000000000000000001', '9007199254740993.5', '9223372036854775807.5'].map(idOf),
  ...['922337203685477580.75e1', '1.00000000000000000001e19', '1e-19'].map(idOf),
  ...['0', '-0', '-0.0', '0e400', '0.000e-400', '2.0', '1E3', '1e+3', '1e003', '1.50e1'].map(idOf),
  ...['20e-1', '2000000e-6', '0.000002e6', '9007199254740993', '-9007199254740993'].map(idOf),
  ...['9223372036854775807', '9223372036854775807.0', '9.223372036854775807e18'].map(idOf),
  ...['0.9223372036854775807e19', '-9223372036854775808', '-9.223372036854775808E+18'].map(idOf),
  ...[digits(500_000), `${digits(500_000, '9')}.5`, `1.${digits(500_000)}`].map(idOf),
  ...[`1.${digits(500_000, '0')}1`, `1e${digits(20_000)}`, `1e-${digits(20_000)}`].map(idOf),
  ...[`7.${digits(500_000, '0')}`, `7${digits(20_000, '0')}e-20000`].map(idOf),
  ...[`0.${digits(19_999, '0')}7e20000`, `0e${digits(20_000, '9')}`].map(idOf),
  ...['"5"', '""', '"1e3"', 'null', 'true', '[10]', '{}', '{"$numberLong":"10"}'].map(idOf),
  `{"id":9007199254740993,"name":"a","x":1e999,"y":${digits(20_000)},"z":-1e-999}`,
  '{"id":9007199254740993,"name":"a","x":{"id":1e19,"y":[{"id":"5"}]}}',
)

const fields = creates(
  'fields',
  ...['null', 'true', '[]', '{}', '["a"]', '5', '1e999'].flatMap((value) => [
    value,
    nameOf(value),
    more(`"tag":${value}`),
  ]),
  ...['"a"', `[${plant}]`, JSON.stringify(plant), `{"plant":${plant}}`, '{"name":"a"}'],
  ...['{"id":10}', '{"tag":"a"}', '{"id":"1","name":2,"tag":3}', '{"tag":"t","name":"a","id":10}'],
  ...['{"id":10,"name":"a","id":11}', '{"id":1e19,"name":"a","id":10}', more('"\\u0069d":11')],
  ...[more('"id":"11"'), more('"id":10.5'), more('"name":null'), more('"tag":"t","tag":1')],
  ...['{"id":10,"name":5,"name":"b"}', more('"tag":null,"tag":"t"')],
  `{${'"id":10,'.repeat(10_000)}"id":11,"name":"a"}`,
  ...['"colour":"green"', '"":1', '"ID":11,"Name":"b","TAG":"t"', '" id":11,"name ":"b"'].map(more),
  ...['"__proto__":null', '"__proto__":{"id":11,"name":"b","tag":"t"}'].map(more),
  ...['"__pr\\u006fto__":{"tag":"t"}', '"__proto__":{"id":1e300}'].map(more),
  ...['"constructor":{"prototype":{"tag":"t"}}', '"toString":1,"toJSON":1,"then":"x"'].map(more),
  ...['"access_token":"x"', '"plants":[{"id":11,"name":"b"},null,5,{"id":1e19}]'].map(more),
  ...['"plants":{"length":1e9}', keys(60_000), keys(60_000, 'k'), `"${'k'.repeat(100_000)}":1`].map(
    more,
  ),
  ...['{"__proto__":{"id":10,"name":"a"}}', '{"id":10,"__proto__":{"name":"a"}}'],
  ...['{"id":10,"constructor":{"prototype":{"name":"a"}}}', '{"id":10,"Name":"a"}'],
  ...['{"id ":10,"name":"a"}', '{"id":10,"name[]":"a"}', '{"id":10,"data":{"name":"a"}}'],
)

const conflicts = [
  create('refuses the fixture again', 40901, {
    body: '{"id":10e-1,"name":"Fer\\u006e","tag":"green"}',
  }),
  create('refuses the id of the fixture with another name', 40902, {
    body: '{"id":1,"name":"fern","tag":"green"}',
  }),
  create('refuses the id of the fixture without its tag', 40902, {
    body: '{"id":1,"name":"Fern"}',
  }),
]

/** Bodies of creates: their syntax, encoding, texts, numbers and fields. */
export const bodies: readonly Case[] = [
  ...syntax,
  ...encodings,
  ...texts,
  ...ids,
  ...fields,
  ...conflicts,
]
