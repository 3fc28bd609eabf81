import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { decodeText, encodingOf } from '../../src/formats/encoding/encoding'
import type { Format } from '../../src/formats/format'
import { valueAt } from '../../src/formats/header'
import { openJson } from '../../src/formats/json/json'
import { openPlants } from '../../src/formats/opening'
import { USUAL_SETTINGS } from '../../src/formats/question'
import type { Line } from '../../src/formats/row'
import { cpuTime } from '../harness/cpu-time'
import { PLANT_WORDS } from '../harness/fields'
import { cut, open as openText, read as readEntries, TOOLS } from './reading'

/** Opens a document that arrives `length` bytes at a time. */
const open = (
  text: string | Uint8Array,
  { format = 'json' as Format, length = 1 << 16, limit = 1000, list = null as string | null } = {},
) =>
  openJson(
    format,
    () => decodeText(cut(Buffer.from(text), length), encodingOf(Buffer.from(text))),
    list,
    limit,
  )

const read = async (text: string | Uint8Array, length = 1 << 16, limit = 1000, format?: Format) =>
  (await Array.fromAsync((await open(text, { format, length, limit })).lines)).flat()

test('the objects of an array are read with their line numbers, wherever it is cut', async () => {
  const text = '\n[ {"a":"x]\\"},{"},\n\n{"b":[{},[1,2]],\n"c":1}\n,{}\n]\n'
  for (const length of [1, 2, 3, 7, 100]) {
    expect(await read(text, length)).toEqual([
      { line: 2, cells: { a: 'x]"},{' } },
      { line: 4, cells: { b: [{}, [1, 2]], c: 1 } },
      { line: 6, cells: {} },
    ])
  }
})

test('any array is read as by JSON.parse, wherever it is cut', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }))),
      fc.integer({ min: 1, max: 9 }),
      fc.constantFrom(0, 1, 2),
      async (values, length, indent) => {
        const text = JSON.stringify(values, null, indent)
        const rows = await read(text, length, 100_000)
        const plain = (value: unknown) =>
          JSON.stringify(value, (_, v) => (typeof v === 'bigint' ? Number(v) : v))
        expect(plain(rows.map((row) => 'cells' in row && row.cells))).toBe(plain(JSON.parse(text)))
      },
    ),
    { numRuns: 100 },
  )
})

test.each([
  ['[{"a":1}', 'the array does not end'],
  ['[{"a":1},', 'the array does not end'],
  ['[{"a":1} {"b":2}]', 'unexpected "{"'],
  ['[{"a":1}] x', 'unexpected "x"'],
  ['[{"a":1},{"b":c}]', 'not JSON'],
])('broken JSON ends the read: %s', async (text, stop) => {
  for (const length of [1, 100]) {
    const rows = await read(text, length)
    expect(rows).toEqual([
      { line: 1, cells: { a: 1 } },
      { line: 1, stop },
    ])
  }
})

test('only the wrong value of an array is refused; a trailing comma is accepted', async () => {
  expect(await read('[{"a":1},\n7,{"b":2},]')).toEqual([
    { line: 1, cells: { a: 1 } },
    { line: 2, problem: expect.stringContaining('found a number'), text: '7' },
    { line: 2, cells: { b: 2 } },
  ])
})

test.each([
  // The quote after b is missing, so opening and closing quotes swap roles.
  '[{"id":1},\n{"id":2,"name":"b,"tag":"c"},{"id":3,"name":"d,"tag":"e"},\n{"id":4}]',
  '[{"id":1},\n{"id":2,name":"b"},\n{"id":4}]',
])('a value whose end is uncertain ends the read: %j', async (text) => {
  for (const length of [1, 100]) {
    expect(await read(text, length)).toEqual([
      { line: 1, cells: { id: 1 } },
      { line: 2, stop: expect.stringMatching(/^(not JSON|the array does not end)$/) },
    ])
  }
})

test('a document without the requested list is refused', async () => {
  const lines = (await open('{"beds":[{"id":1}],"x":{"y":[]}}', { list: 'nope' })).lines

  expect(await Array.fromAsync(lines).catch(String)).toBe('OpenError: no list "nope"')
})

test('a value that is too long ends the read', async () => {
  expect((await read(`[{"a":"${'x'.repeat(60)}`, 5, 50)).at(-1)).toEqual({
    line: 1,
    stop: 'a value longer than 50 characters',
  })
})

test('a line that is too long is the only one refused, wherever it is cut', async () => {
  const good = '{"id":1,"name":"né"}'
  const text = [good, '', `{"id":2,"name":"${'x'.repeat(60)}"}`, good].join('\n')
  for (const length of [1, 2, 7, 50]) {
    expect(await read(text, length, 50, 'ndjson')).toMatchObject([
      { line: 1, cells: { id: 1, name: 'né' } },
      { line: 3, problem: 'longer than 50 characters' },
      { line: 4, cells: { id: 1, name: 'né' } },
    ])
  }
})

test('a line that is not UTF-8 ends the read', async () => {
  const text = '\n{"id":1}\n{"id":2}\n{"name":"\xff"}\n{"id":3}\n'
  const lines = (await open(Buffer.from(text, 'latin1'), { format: 'ndjson', length: 9 })).lines

  const rows: Line[] = []
  const reason = await (async () => {
    for await (const part of lines) rows.push(...part)
  })().catch(String)

  expect(reason).toContain('not UTF-8 at line 4 or later')
  expect(rows).toMatchObject([{ line: 2 }, { line: 3 }])
})

test('an array takes linear time, even in one part', async () => {
  const timeOf = async (rows: number): Promise<number> => {
    const text = JSON.stringify(Array.from({ length: rows }, (_, id) => ({ id, name: 'Rose' })))
    const started = cpuTime()
    expect((await read(text, text.length, text.length)).length).toBe(rows)
    return cpuTime() - started
  }
  await timeOf(20_000)
  const few = await timeOf(20_000)

  // Eight times as many rows.
  expect((await timeOf(160_000)) / few).toBeLessThan(20)
})

const rowsOf = async (text: string, options: Parameters<typeof open>[1] = {}) => {
  const { list, lines } = await open(text, options)
  const rows = (await Array.fromAsync(lines)).flat()
  return { list, rows: rows.map((row) => ('cells' in row ? row.cells : row)) }
}
const [fern, ivy] = [
  { id: 1, name: 'Fern' },
  { id: 2, name: 'Ivy' },
]
const both = JSON.stringify([fern, ivy], null, 1)

test.each([
  ['an array', both, null],
  [
    'values over several lines',
    `${JSON.stringify(fern, null, 1)}\n${JSON.stringify(ivy, null, 1)}`,
    null,
  ],
  ['values on one line', JSON.stringify(fern) + JSON.stringify(ivy), null],
  ['one value per line', `\n ${JSON.stringify(fern)}\r\n\r\n${JSON.stringify(ivy)}\r\n`, null],
  [
    'arrays one after another',
    `${JSON.stringify([fern], null, 1)}\n[]\n${JSON.stringify([ivy])}`,
    null,
  ],
  ['an object with one list', `{"count":2,"plants":${both}}`, 'plants'],
  ['an object with one deeply nested list', `{"a":{"b":1,"c":{"d":${both}}},"e":[1,[2]]}`, 'a.c.d'],
  ['an object with a name and a list', `{"name":"Seeds","items":${both}}`, 'items'],
  [
    'places on a map',
    JSON.stringify({
      type: 'FeatureCollection',
      features: [
        { type: 'Feature', id: 1, properties: { name: 'Fern' }, geometry: null },
        { type: 'Feature', properties: ivy, geometry: { type: 'Point', coordinates: [1, 2] } },
      ],
    }),
    'features',
  ],
])('the first value decides the shape: %s', async (_, text, list) => {
  for (const format of ['json', 'ndjson'] as const) {
    for (const length of [1, 3, 100_000]) {
      // Each line of NDJSON is a row, even if it contains a list.
      if (format === 'ndjson' && list !== null) continue
      expect(await rowsOf(text, { format, length })).toEqual({ list, rows: [fern, ivy] })
    }
  }
})

test.each([
  ['{"sun":[{"a":1}],"shade":[{"a":2},{"a":3}]}', '*', [1, 2, 3]],
  ['{"sun":[{"a":1}],"shade":[{"a":2},{"a":3}]}', 'shade', [2, 3]],
  ['{"beds":{"x":{"plants":[{"a":1}]},"y":{"plants":[{"a":2}]}}}', 'beds.*.plants', [1, 2]],
  ['{"a.b":[{"a":1}],"a":{"b":[{"a":2}]}}', 'a.b', [1, 2]],
  ['{"fern":{"a":1},"ivy":{"a":2}}', '*', [1, 2]],
  ['{"plants":[{"a":1}],"next":2}\n{"plants":[{"a":2}]}', 'plants', [1, 2]],
])('the rows of a named list are read: %s, %s', async (text, list, values) => {
  const { rows } = await rowsOf(text, { list, length: 2 })

  expect(rows.map((row) => (row as { a: number }).a)).toEqual(values)
})

test.each([
  [
    '{"sun":[{"a":1}],"shade":[{"a":2},{"a":3}]}',
    'the plants may be in the list "sun" (1) or "shade" (2), or in all: "*"',
  ],
  ['{"x":[{"a":1}],"y":{"z":[{"a":2}]}}', 'the plants may be in the list "x" (1) or "y.z" (1)'],
  ['{"fern":{"a":1},"ivy":{"a":2}}', 'the plants may be in the list "*" (2)'],
  [
    '{"id":1,"name":"Fern","synonyms":[{"name":"x"}]}',
    'the plants may be in the list "synonyms" (1)',
  ],
  ['{"plants":[{"id":1}', 'not JSON: line 1: the object does not end'],
  ['\n\n{"a" 1}', 'not JSON: line 3: unexpected "1"'],
  ['\0\0', 'not JSON: line 1 begins with "\\u0000"'],
  ['id,name\n1,a\n', 'not JSON: line 1 begins with "i"'],
])('%j is refused, and nothing is read', async (text, message) => {
  expect(await rowsOf(text, { length: 3 }).catch(String)).toContain(message)
})

test('a stream is read like a file', async () => {
  const source = cut(Buffer.from(`{"plants":${both}}`), 5)
  const file = { name: '-', format: null, source }
  const { lines, list } = await openPlants(file, USUAL_SETTINGS, TOOLS)

  expect(list).toBe('plants')
  expect((await Array.fromAsync(lines)).flat()).toHaveLength(2)
})

test('integers stay exact in each shape', async () => {
  const id = 9223372036854775807n
  for (const text of [`[{"id":${id}}]`, `{"x":[{"id":${id}}]}`, `{"id":${id}}\n{\n"id":${id}}`]) {
    expect((await rowsOf(text)).rows[0]).toEqual({ id })
  }
  expect((await rowsOf(`[{"taxon":{"id":${id}}}]`)).rows[0]).toEqual({ taxon: { id } })
})

test('many blanks, backslashes or levels take linear time', async () => {
  const from = cpuTime()
  const text = JSON.stringify([{ a: '\\"'.repeat(1_000_000), b: 1 }])
  const blanks = ' \n'.repeat(2_000_000)

  expect((await rowsOf(blanks + text, { limit: 10_000_000 })).rows).toHaveLength(1)
  expect(await rowsOf('{"a":'.repeat(1_000_000)).catch(String)).toContain('1000 levels deep')
  expect(cpuTime() - from).toBeLessThan(5000)
})

const tableOf = async (text: string, list: string | null = null) => {
  const { header, lines } = await openText('json', text, { list, length: 3 })
  const rows = (await Array.fromAsync(lines)).flat()
  return { header, rows }
}

test('the keys of nested objects become columns, joined by dots', async () => {
  const row = { 'a.b': 1, c: { d: { e: 2 }, 'f.g': 3 }, h: {}, i: [{ j: 4 }] }
  const { header, rows } = await tableOf(JSON.stringify([row]))

  expect(header).toEqual(['a.b', 'c.d.e', 'c.f.g', 'h', 'i'])
  const [first] = rows
  const cells = first && 'cells' in first ? first.cells : {}
  expect(header.map((column) => valueAt(cells, column))).toEqual([1, 2, 3, {}, [{ j: 4 }]])
  expect(valueAt(cells, 'c.toString')).toBeUndefined()
})

test('the rows of JSON may be arrays below a header', async () => {
  const { header, rows } = await tableOf(
    '{"data":[["id","name"],[9007199254740993,"Fern"],[2],[3,"a","b"],{"id":4}]}',
  )

  expect(header).toEqual(['id', 'name'])
  expect(rows).toEqual([
    { line: 1, cells: [9007199254740993n, 'Fern'] },
    { line: 1, cells: [2] },
    { line: 1, cells: [3, 'a', 'b'] },
    { line: 1, cells: { id: 4 } },
  ])
})

test('an array that is longer than the header, or is among objects, is refused', async () => {
  const arrays = '[["id","name"],[9007199254740993,"Fern"],[2],[3,"a","b"],{"id":4,"name":"Ivy"}]'
  const objects = '[{"id":1,"name":"Fern"},[2,"Ivy"]]'

  expect((await readEntries('json', arrays)).entries).toEqual([
    { line: 1, plant: { id: 9007199254740993n, name: 'Fern' } },
    { line: 1, problem: 'name is missing' },
    { line: 1, problem: '3 fields; the header has 2' },
    { line: 1, plant: { id: 4n, name: 'Ivy' } },
  ])
  expect((await readEntries('json', objects)).entries).toEqual([
    { line: 1, plant: { id: 1n, name: 'Fern' } },
    { line: 1, problem: 'expected one plant object per line, found an array' },
  ])
})

test.each([
  ['[["id","name"],[1,"Fern"]]', ['id', 'name'], [[1, 'Fern']]],
  ['{"rows":[[1,"Fern"]],"columns":["id","name"]}', ['id', 'name'], [[1, 'Fern']]],
  [
    '{"rows":[[1,"Fern"]],"columns":["id","name"],"facets":[{"name":"id"}]}',
    ['id', 'name'],
    [[1, 'Fern']],
  ],
  ['{"columns":["id","name"],"index":[0],"data":[[1,"Fern"]]}', ['id', 'name'], [[1, 'Fern']]],
])('the rows of JSON may be arrays: %s', async (text, header, cells) => {
  const table = await tableOf(text)

  expect(table.header).toEqual(header)
  expect(table.rows.map((row) => 'cells' in row && row.cells)).toEqual(cells)
})

test('NaN and Infinity are read as null', async () => {
  const text = '[{"id":1,"name":"NaN","tag":NaN},\n{"id":2,"name":"Ivy","tag":-Infinity}]'

  expect((await readEntries('json', text)).entries).toEqual([
    { line: 1, plant: { id: 1n, name: 'NaN' } },
    { line: 2, plant: { id: 2n, name: 'Ivy' } },
  ])
})

test('a name may be a list of one text', async () => {
  const { entries } = await readEntries(
    'json',
    '[{"id":1,"name":["Abies alba"]},{"id":2,"name":["a","b"]}]',
  )

  expect(entries).toEqual([
    { line: 1, plant: { id: 1n, name: 'Abies alba' } },
    { line: 1, problem: 'name: expected a string, found an array' },
  ])
})

test('the key of an object may be its name', async () => {
  const text = '{"x":1,"beds":{"Fern":{"light":1},"Ivy":{"key":"own"}}}'
  const { header, rows } = await tableOf(text, 'beds.*')

  expect(header).toEqual(['key', 'light'])
  expect(rows.map((row) => 'cells' in row && row.cells)).toEqual([
    { key: 'Fern', light: 1 },
    { key: 'own' },
  ])
})

test.each([
  ['{"beds":{"Fern":{"a":1},"Ivy":{"a":2}}}', 'the plants may be in the list "beds.*" (2)'],
  ['{"about":"x","flowers":["Fern","Ivy"]}', 'the plants may be in the list "flowers" (2)'],
  [
    '{"plants":[{"id":1}],"edges":[["a","b"]]}',
    'the plants may be in the list "plants" (1) or "edges" (1), or in all: "*"',
  ],
  ['[1]', `no plant in it; line 1: expected an object with ${PLANT_WORDS}, found a number`],
])('JSON whose rows are uncertain is refused with one message: %s', async (text, message) => {
  expect(await tableOf(text).catch(String)).toBe(`OpenError: ${message}`)
})

test('a list of rows is preferred to the list that describes its fields', async () => {
  const text =
    '{"fields":[{"name":"OBJECTID","type":"oid"},{"name":"Species"}],"features":[{"attributes":{"OBJECTID":1,"Species":"Acer rubrum"}}]}'

  expect((await tableOf(text)).header).toEqual(['attributes.OBJECTID', 'attributes.Species'])
})

test('an object with a list of texts is one plant', async () => {
  expect((await tableOf('{"latin":"Filix","synonyms":["Fern","Bracken"]}')).header).toEqual([
    'latin',
    'synonyms',
  ])
})
