import { expect, test } from 'bun:test'
import { CsvError } from 'csv-parse'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { createCsvReader } from '../../src/formats/csv-records'

const LIMIT = 1000

function readAll(text: string, length: number, limit = LIMIT, delimiter = ',') {
  const read = createCsvReader(limit, delimiter)
  const records: ReturnType<typeof read> = []
  for (let at = 0; at < text.length; at += length) {
    records.push(...read(text.slice(at, at + length), false))
    const last = records.at(-1)
    if (last && 'fault' in last) return records
  }
  return [...records, ...read('', true)]
}

const fieldsOf = (records: ReturnType<typeof readAll>): (readonly string[] | string)[] =>
  records.map((record) => ('fault' in record ? record.fault : record.fields))

/** The records that csv-parse reads, and what it says of the quotes at which it stops. */
function reference(text: string, delimiter: string): (string[] | string)[] {
  const records: string[][] = []
  try {
    parse(text, {
      delimiter,
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      skip_empty_lines: true,
      on_record: (record: string[]) => void records.push(record),
    })
    return records
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    return [
      ...records,
      error.code === 'CSV_QUOTE_NOT_CLOSED' ? 'unterminated quote' : 'stray quote',
    ]
  }
}

const pieces = [
  'a',
  'b c',
  'DELIMITER',
  'DELIMITER',
  '"',
  '""',
  '"x"',
  '"xDELIMITER\ny"',
  '\n',
  '\r\n',
  '\r',
  '\ufeff',
  'é',
]
const texts = fc.array(fc.constantFrom(...pieces), { maxLength: 25 }).map((it) => `x${it.join('')}`)

test('reads the records that csv-parse reads, wherever a text is cut', () => {
  fc.assert(
    fc.property(
      texts,
      fc.integer({ min: 1, max: 12 }),
      fc.constantFrom(',', ';', '\t', '|', ']', '\\', '^', '-', '§'),
      (template, length, delimiter) => {
        const text = template.replaceAll('DELIMITER', () => delimiter)
        const records = readAll(text, length, LIMIT, delimiter)
        expect(fieldsOf(records)).toEqual(reference(text, delimiter))
        expect(records).toEqual(readAll(text, LIMIT, LIMIT, delimiter))
      },
    ),
    { numRuns: 2000 },
  )
})

test('counts lines as editors do, also within quotes', () => {
  const lines = readAll('a\r\n"b\r\nc\rd\ne"\n\nf\rg', 2).map(({ line }) => line)

  expect(lines).toEqual([1, 5, 7, 8])
})

test('tells the field and the line of a stray quote, and where one that is never closed was opened', () => {
  expect(readAll('a\n"b\n",c"d\ne', 3).at(-1)).toEqual({ line: 3, fault: 'stray quote', field: 1 })
  expect(readAll('a\n"b\nb","c\nd\n', 3).at(-1)).toEqual({
    line: 3,
    fault: 'unterminated quote',
    field: 1,
  })
})

test.each([
  ['on one line', 'b'.repeat(11)],
  ['in quotes', `"${'b\n'.repeat(6)}"`],
])('stops at a record that is too long: %s', (_, long) => {
  for (const length of [1, 5, 100]) {
    const records = readAll(`a\n${long}\nc\n`, length, 10)
    expect(records.at(-1)).toEqual({ line: 2, fault: 'too long', field: null })
    expect(records).toHaveLength(2)
  }
})

test('reads a long field in time that grows with its length', () => {
  const field = `${'x\n'.repeat(4_000_000)}`
  const from = performance.now()

  const records = readAll(`"${field}"\n`, 100, 10_000_000)

  expect(fieldsOf(records)).toEqual([[field]])
  expect(performance.now() - from).toBeLessThan(5000)
})
