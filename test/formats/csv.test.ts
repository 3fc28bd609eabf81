import { describe, expect, test } from 'bun:test'
import { CsvError } from 'csv-parse'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { createCsvReader, findDelimiter } from '../../src/formats/csv'
import type { Line } from '../../src/formats/row'
import { cpuTime } from '../harness/cpu-time'
import { open } from './reading'

const LIMIT = 1000

function readAll(text: string, length: number, limit = LIMIT, delimiter = ','): Line[] {
  const read = createCsvReader(limit, delimiter)
  const rows: Line[] = []
  for (let at = 0; at < text.length; at += length) {
    rows.push(...read(text.slice(at, at + length), false))
    const last = rows.at(-1)
    if (last && 'stop' in last) return rows
  }
  return [...rows, ...read('', true)]
}

const cellsOf = (rows: readonly Line[]) =>
  rows.map((row) => ('cells' in row ? row.cells : 'stop' in row ? row.stop : row.problem))

/** Returns the rows that csv-parse reads; a quote that is never closed becomes a stop. */
function reference(text: string, delimiter: string) {
  const rows: unknown[] = []
  const keep = (cells: string[]) => {
    // csv-parse does not distinguish an empty cell in quotes from an empty cell.
    if (cells.some((cell) => cell.trim() !== '')) rows.push(cells)
    return null
  }
  try {
    parse(text, {
      delimiter,
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      relax_quotes: true,
      on_record: keep,
    })
    return rows
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    return [...rows, 'unterminated quote']
  }
}

const emptyAsText = (rows: readonly unknown[]) =>
  rows.map((cells) => (Array.isArray(cells) ? cells.map((cell) => cell ?? '') : cells))

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
const texts = fc
  .array(fc.constantFrom(...pieces), { maxLength: 25 })
  .map((parts) => `x${parts.join('')}`)

test('the CSV reader agrees with csv-parse, wherever a text is cut', () => {
  let compared = 0
  fc.assert(
    fc.property(
      texts,
      fc.integer({ min: 1, max: 12 }),
      fc.constantFrom(',', ';', '|', ']', '\\', '^', '-', '§', '\t'),
      (template, length, delimiter) => {
        const text = template.replaceAll('DELIMITER', () => delimiter)
        const rows = readAll(text, length, LIMIT, delimiter)
        expect(rows).toEqual(readAll(text, LIMIT, LIMIT, delimiter))
        // csv-parse differs on text after a closing quote, and on quotes between tabs or bars.
        if ('\t|'.includes(delimiter) || rows.some((row) => 'problem' in row)) return
        compared += 1
        expect(emptyAsText(cellsOf(rows))).toEqual(reference(text, delimiter))
      },
    ),
    { numRuns: 2000 },
  )
  expect(compared).toBeGreaterThan(500)
})

test('an empty cell is null, and an empty text in quotes is not', () => {
  expect(cellsOf(readAll('a,,"",\n', 3))).toEqual([['a', null, '', null]])
})

test('rows whose cells are all empty are skipped', () => {
  expect(cellsOf(readAll(',,\n\n ,"",\na,b\n;\n', 2))).toEqual([['a', 'b'], [';']])
})

test('a row with text after a quoted cell is refused, and the read continues', () => {
  expect(readAll('a\n"b\n",c\n1,"c"d,e\nf\n', 3)).toEqual([
    { line: 1, cells: ['a'] },
    { line: 3, cells: ['b\n', 'c'] },
    { line: 4, problem: 'stray quote', column: 1, text: '1,"c"d,e' },
    { line: 5, cells: ['f'] },
  ])
})

test('a refusal names the lines that a quote joined into one row', () => {
  expect(readAll('a,b\n1,"c\n2,d\n3,"e",f\n4,g\n', 3)).toEqual([
    { line: 1, cells: ['a', 'b'] },
    {
      line: 4,
      problem: 'lines 2 to 4 are one row; stray quote',
      column: 1,
      text: '1,"c\n2,d\n3,"e",f',
    },
    { line: 5, cells: ['4', 'g'] },
  ])
})

test('a quote that is never closed ends the read, and the error names its line', () => {
  expect(readAll('a\n"b\nb","c\nd\n', 3).at(-1)).toEqual({
    line: 3,
    stop: 'unterminated quote',
    column: 1,
  })
})

describe.each(['\t', '|'])('in a file delimited by %j', (delimiter) => {
  const read = (text: string) => {
    const rows = readAll(text.replaceAll('\t', delimiter), 3, LIMIT, delimiter)
    return rows.map((row) =>
      'cells' in row
        ? (row.cells as string[]).map((cell) => cell.replaceAll(delimiter, '\t'))
        : row,
    )
  }

  test('a quote that is not closed on its line is plain text', () => {
    expect(read('a\tb\n1\t"old\n2\t"Anna" rose\n3\tx"\n4\tpot 6" no\n5\t"open\n')).toEqual([
      ['a', 'b'],
      ['1', '"old'],
      ['2', '"Anna" rose'],
      ['3', 'x"'],
      ['4', 'pot 6" no'],
      ['5', '"open'],
    ])
  })

  test('a cell in quotes may contain the delimiter, or line breaks that complete a short row', () => {
    expect(read('a\tb\tc\n1\t"x\ty"\tz\n2\t"l1\nl2"\tz\n')).toEqual([
      ['a', 'b', 'c'],
      ['1', 'x\ty', 'z'],
      ['2', 'l1\nl2', 'z'],
    ])
    expect(read('a\tb\n1\t"two\nlines ""x"""\n2\tc\n')).toEqual([
      ['a', 'b'],
      ['1', 'two\nlines "x"'],
      ['2', 'c'],
    ])
  })
})

test('lines are counted as editors do, even within quotes', () => {
  const lines = readAll('a\r\n"b\r\nc\rd\ne"\n\nf\rg', 2).map(({ line }) => line)

  expect(lines).toEqual([1, 5, 7, 8])
})

test.each([
  ['on one line', 'b'.repeat(11)],
  ['in quotes', `"${'b\n'.repeat(6)}"`],
])('a row that is too long ends the read: %s', (_, long) => {
  for (const length of [1, 5, 100]) {
    const rows = readAll(`a\n${long}\nc\n`, length, 10)
    expect(rows.at(-1)).toEqual({ line: 2, stop: 'a row longer than 10 characters' })
    expect(rows).toHaveLength(2)
  }
})

test('a long cell takes linear time', () => {
  const cell = `${'x\n'.repeat(4_000_000)}`
  const from = cpuTime()

  const rows = readAll(`"${cell}"\n`, 100, 10_000_000)

  expect(cellsOf(rows)).toEqual([[cell]])
  expect(cpuTime() - from).toBeLessThan(5000)
})

describe('the delimiter', () => {
  test.each([
    [',', 'a,b;c\n1,2\n'],
    [';', 'Nr;Name\n1;a, b, c, d\n2;e, f, g, h\n'],
    [';', 'Name;Height (m, about, max)\na;1\nb;2\n'],
    ['\t', 'a\tb\n1\t2,5\n'],
    ['|', 'a|b|c\n1|2|3\n'],
    [',', 'a\n1\n'],
    [',', ''],
    [';', '"a;b";c\n1;2\n'],
    [';', 'Seed list 2026\n\nNr;Name\n1;2,5\n2;3,5\n'],
    [';', 'Plants, bulbs and seeds\nNr;Name\n1;Fern\n2;Ivy\n'],
    ['\t', '# a comment\n# another\na\tb\n1\t2\n'],
  ])('is %j for %j', (delimiter, text) => {
    expect(findDelimiter(text)).toBe(delimiter)
  })

  test('is detected from the same first lines, wherever a text is cut', async () => {
    const text = `\n\nNr;Name\n${'1;a\n'.repeat(25)}2,x,y,z,;\n`
    for (const length of [1, 7, 1000]) {
      const { delimiter, lines } = await open('csv', text, { length, header: false })
      const rows = (await Array.fromAsync(lines)).flat()
      expect({ delimiter, rows: rows.length, line: rows[0]?.line }).toEqual({
        delimiter: ';',
        rows: 27,
        line: 3,
      })
    }
  })
})

test('a tab-separated file with an open quote in each row takes linear time', () => {
  const text = `a\tb\n${'1\t"open\n'.repeat(200_000)}`
  const from = cpuTime()

  expect(readAll(text, 65_536, LIMIT, '\t')).toHaveLength(200_001)
  expect(cpuTime() - from).toBeLessThan(5000)
})

test('a control character is text in a cell, but not before the first delimiter', async () => {
  const table = await open('csv', 'id,name\n1,\u0001')

  expect(table.sample).toMatchObject([{ cells: ['1', '\u0001'] }])
  await expect(open('csv', '\u0089PNG\r\n\u001a\n,')).rejects.toThrow('this is not text')
})
