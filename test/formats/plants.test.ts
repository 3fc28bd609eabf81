// Plant files, read and written as by the commands and the console.
import { describe, expect, test } from 'bun:test'
import { getSchemaValidator } from 'elysia'
import fc from 'fast-check'
import { WRITTEN_FORMATS } from '../../src/formats/format'
import { WRITERS } from '../../src/formats/write'
import { parseJson } from '../../src/plant/json'
import { listMismatches } from '../../src/plant/mismatch'
import { Plant } from '../../src/plant/plant'
import { read } from './reading'

const awkward = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r', ' ', '\ufeff', 'é') })
const plants = fc.array(
  fc.record(
    {
      id: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      name: fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0')),
      tag: awkward,
    },
    { requiredKeys: ['id', 'name'] },
  ),
  { minLength: 1, maxLength: 20 },
)

describe.each([...WRITTEN_FORMATS])('a %s file', (format) => {
  test('is read as it was written, wherever it is cut', async () => {
    await fc.assert(
      fc.asyncProperty(plants, fc.integer({ min: 1, max: 40 }), async (all, length) => {
        const { header, line } = WRITERS[format]
        const { entries } = await read(format, header + all.map(line).join(''), { length })
        expect(entries.map((entry) => ('plant' in entry ? entry.plant : entry))).toEqual(all)
      }),
      { numRuns: 100 },
    )
  })

  test('is read the same even if it is broken, wherever it is cut', async () => {
    const unit = fc.constantFrom('1', '2', ',', '\n', '\r', '"', '{"id":', '"name":', '}', 'x', 'é')
    const texts = fc.string({ unit, maxLength: 40 })
    await fc.assert(
      fc.asyncProperty(texts, fc.integer({ min: 1, max: 12 }), async (body, length) => {
        const text = `${format === 'csv' ? 'id,name,tag' : '{"id":0,"name":""}'}\n${body}`
        expect(await read(format, text, { length })).toEqual(await read(format, text))
      }),
      { numRuns: 500 },
    )
  })
})

test('a JSON line that is not a plant is refused with the message of a request', async () => {
  const schema = getSchemaValidator(Plant, { normalize: false })
  const value = fc.constantFrom('Rose', 'a\0', '\ud800', '', true, [], 7, 1.5, 2 ** 70, {})
  const fields = fc.record(
    // A string that is an integer is accepted as an id; see the tests below.
    {
      id: value.filter((value) => typeof value !== 'string'),
      name: fc.oneof(value, fc.constant(null)),
      tag: value,
      note: value,
    },
    { requiredKeys: [] },
  )
  const sorted = (problems: string) => problems.split('; ').toSorted()
  await fc.assert(
    fc.asyncProperty(fields, async (plant) => {
      const text = JSON.stringify(plant)
      const body = parseJson(text)
      const { entries } = await read('ndjson', `{"id":0,"name":"a","tag":"b"}\n${text}`)
      const entry = entries[1]
      if (schema.Check(body)) expect(entry).toHaveProperty('plant')
      else {
        const words = listMismatches(schema, body).replace('the body: ', '')
        expect(entry && 'problem' in entry && sorted(String(entry.problem))).toEqual(sorted(words))
      }
    }),
    { numRuns: 1000 },
  )
})

/** Reads a file of plants with these ids, and returns each id, or the reason why it was refused. */
async function idsOf(format: 'csv' | 'ndjson', ids: readonly string[]) {
  const lines = ids.map((id) => (format === 'csv' ? `${id},a\n` : `{"id":${id},"name":"a"}\n`))
  const { entries } = await read(format, (format === 'csv' ? 'id,name\n' : '') + lines.join(''))
  return entries.map((entry) =>
    'plant' in entry ? (entry.plant as Plant).id : String((entry as { problem: string }).problem),
  )
}

test('ids are read exactly as spreadsheets write them', async () => {
  const ids = [
    ' 1',
    '2 ',
    '3.0',
    '4e3',
    '-5',
    '9223372036854775807',
    '0006',
    '-9223372036854775808',
  ]
  expect(await idsOf('csv', ids)).toEqual([
    1n,
    2n,
    3n,
    4000n,
    -5n,
    9223372036854775807n,
    6n,
    -9223372036854775808n,
  ])
  const numbers = ['1', '"2"', '" 3"', '4.0', '5e1', '9223372036854775807', '9007199254740993']
  expect(await idsOf('ndjson', numbers)).toEqual([
    1n,
    2n,
    3n,
    4n,
    50n,
    9223372036854775807n,
    9007199254740993n,
  ])
})

test('an invalid id is refused, and the message says what to do', async () => {
  const ids = ['PL0001', '1.5', '9223372036854775808', '', '1.0000000000000000001', '0x1']
  expect(await idsOf('csv', ids)).toEqual([
    'id: "PL0001" is not a whole number; ids must be whole numbers (use --number-from to number the rows)',
    'id: "1.5" is not a whole number; ids must be whole numbers (use --number-from to number the rows)',
    'id: 9223372036854775808 is beyond the range of ids, -9223372036854775808 to 9223372036854775807',
    'id is missing',
    'id: "1.0000000000000000001" is not a whole number; ids must be whole numbers (use --number-from to number the rows)',
    'id: "0x1" is not a whole number; ids must be whole numbers (use --number-from to number the rows)',
  ])
  expect(await idsOf('ndjson', ['1.0000000000000000001'])).toEqual([
    'id: "1.0000000000000000001" is not a whole number; ids must be whole numbers (use --number-from to number the rows)',
  ])
})

test('an id whose dot may be decimal or separate thousands is refused', async () => {
  const ids = ['1.000', ' 12.000 ', '1.00', '1.0000', '1000.000']

  expect(await idsOf('csv', ids)).toEqual([
    'id: "1.000" may be 1 or 1000; write it without the dot',
    'id: "12.000" may be 12 or 12000; write it without the dot',
    1n,
    1n,
    1000n,
  ])
  expect(await idsOf('ndjson', ['1.000'])).toEqual([1n])
})

test('one notice reports dropped leading zeros', async () => {
  const { notices } = await read('csv', 'id,name\n001,a\n002,b\n')

  expect(notices).toEqual(['leading zeros are dropped: 001 becomes 1'])
})

test('an id that a spreadsheet may have rounded is refused', async () => {
  const ids = ['7', '1.23457E+12', '1E+12', '1.2e2', '2e3', '1.5e1', ' 1e1 ']
  const rounded = 'may have been rounded: format the column as text, and enter the id again'

  expect(await idsOf('csv', ids)).toEqual([
    7n,
    `id: 1.23457E+12 ${rounded}`,
    `id: 1E+12 ${rounded}`,
    `id: 1.2e2 ${rounded}`,
    2000n,
    15n,
    10n,
  ])
})

test.each([
  [
    'id,name,done\n1,Fern,TRUE\n,,FALSE\n,,FALSE\n',
    '2 rows without a plant were skipped, the first in line 3',
  ],
  ['id,name\n1,Fern\n\ufeffID,Name\n', '1 row without a plant was skipped: line 3'],
])('rows without a plant are skipped, with one notice: %j', async (text, notice) => {
  const { notices, entries } = await read('csv', text)

  expect(entries).toEqual([{ line: 2, plant: { id: 1n, name: 'Fern' } }])
  expect(notices).toEqual([notice])
})

test('a row without an id or a name is refused; a plant named like a heading is kept', async () => {
  const { notices, entries } = await read('csv', 'id,name,tag\n7,,\n,Ivy,\n2,name,tag\n')

  expect(entries).toEqual([
    { line: 2, problem: 'name is missing' },
    { line: 3, problem: 'id is missing' },
    { line: 4, plant: { id: 2n, name: 'name', tag: 'tag' } },
  ])
  expect(notices).toEqual([])
})

test('marks of missing values are stored as text, and counted', async () => {
  const text = 'id,name,tag\n1,Fern,NA\n2,NA,NULL\n3,Ivy,NAN\n4,NAN,\\N\n'
  const { notices, entries } = await read('csv', text)
  const without = await read('csv', text, { null: ['NA', 'NULL'] })

  expect(entries.map((entry) => 'plant' in entry && entry.plant.tag)).toEqual([
    'NA',
    'NULL',
    'NAN',
    '\\N',
  ])
  expect(notices).toEqual([
    'NA is stored as text in 2 cells; use --null NA to leave it out',
    'NULL is stored as text in 1 cell; use --null NULL to leave it out',
    "\\N is stored as text in 1 cell; use --null '\\N' to leave it out",
  ])
  expect(without.entries).toEqual([
    { line: 2, plant: { id: 1n, name: 'Fern' } },
    { line: 3, problem: 'name is missing' },
    { line: 4, plant: { id: 3n, name: 'Ivy', tag: 'NAN' } },
    { line: 5, plant: { id: 4n, name: 'NAN', tag: '\\N' } },
  ])
})

test.each([
  ['id,name,tag\n1,a,x\n2,b, fern\n3,c,fern \n', 'line 3: the space around the tag " fern"'],
  ['id, name, tag\n1, Fern,shade\n2, Ivy,\n', 'line 2: the space around the name " Fern"'],
])('one notice reports that the space around a text is part of it: %j', async (text, notice) => {
  const { notices, entries } = await read('csv', text)
  const texts = entries.map((entry) => 'plant' in entry && `${entry.plant.name}|${entry.plant.tag}`)

  expect(notices).toEqual([`${notice} is part of it`])
  expect(texts.join()).toMatch(/\| fern,|^ Fern\|/)
})

test('rows are numbered by position, refused ones included', async () => {
  const text = 'name,tag\na,x\n,y\n,,\n"b"c,z\nd,\n'
  const { entries } = await read('csv', text, { numberFrom: 10n })

  expect(entries).toEqual([
    { line: 2, plant: { id: 10n, name: 'a', tag: 'x' } },
    { line: 3, problem: 'name is missing' },
    { line: 5, problem: 'stray quote in "name"' },
    { line: 6, plant: { id: 13n, name: 'd' } },
  ])
})

test('no row is numbered beyond the largest id', async () => {
  const { entries } = await read('csv', 'name\na\nb\n', { numberFrom: 2n ** 63n - 1n })

  expect(entries[0]).toHaveProperty('plant.id', 2n ** 63n - 1n)
  expect(entries[1]).toHaveProperty('problem', expect.stringContaining('id: expected an integer'))
})

test('rows may be shorter than the header, or longer with empty cells', async () => {
  const { entries } = await read('csv', 'id,name,tag\n1,a\n2,b,x,,\n3,c,x,y,z,\n4\n')

  expect(entries).toEqual([
    { line: 2, plant: { id: 1n, name: 'a' } },
    { line: 3, plant: { id: 2n, name: 'b', tag: 'x' } },
    { line: 4, problem: '5 fields; the header has 3' },
    { line: 5, problem: 'name is missing' },
  ])
})

test('a null tag in JSON is no tag', async () => {
  expect((await read('ndjson', '{"id":1,"name":"a","tag":null}')).entries).toEqual([
    { line: 1, plant: { id: 1n, name: 'a' } },
  ])
})

describe('a key of JSON that the first rows lack', () => {
  const early = Array.from({ length: 5000 }, (_, id) => ({ id, name: 'Fern' }))
  const late = { id: 5000, name: 'Ivy', tag: 'climber', bed: 'A' }
  const lines = [...early, late].map((plant) => JSON.stringify(plant)).join('\n')
  const whole = JSON.stringify({ plants: [...early, late] })

  test.each([
    ['ndjson', lines],
    ['json', whole],
  ] as const)('is read where it first appears: %s', async (format, text) => {
    const { entries } = await read(format, text)

    expect(entries).toHaveLength(5001)
    expect(entries.at(-1)).toHaveProperty('plant', { id: 5000n, name: 'Ivy', tag: 'climber' })
  })

  test('is reported once if it is not used', async () => {
    const { notices } = await read('ndjson', `${lines}\n{"id":5001,"name":"Moss","bed":"B"}`)

    expect(notices).toEqual(['line 5001: the key "bed" comes first here; it is not used'])
  })

  test('is not read as the tag if another column was chosen', async () => {
    const tagged = early.map((plant) => ({ ...plant, kind: 'fern' }))
    const text = [...tagged, late].map((plant) => JSON.stringify(plant)).join('\n')
    const { entries } = await read('ndjson', text, { tagColumn: 'kind' })

    expect(entries.at(-1)).toHaveProperty('plant', { id: 5000n, name: 'Ivy' })
  })
})
