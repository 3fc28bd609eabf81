// The meaning of a workbook's cells, in each of its formats.
import { describe, expect, test } from 'bun:test'
import { type BookType, type CellObject, CFB, utils, type WorkBook, write } from '@e965/xlsx'
import { deflateSync, strToU8, unzipSync, zipSync } from 'fflate'
import { readInThread } from '../../src/formats/workbook/thread'
import { readWorkbook } from '../../src/formats/workbook/workbook'
import { open, read } from './reading'
import { inlineText, MAIN, OFFICE, openDocument, PACKAGE, packed, rowsOf } from './workbook'

const bytesOf = (book: WorkBook, bookType: BookType = 'xlsx') =>
  new Uint8Array(write(book, { bookType, type: 'array' }))

type Rows = readonly (readonly (CellObject | string | number | null)[])[]

/** Returns a workbook of one sheet with these cells. */
const workbook = (rows: Rows, bookType?: BookType, more: Partial<WorkBook> = {}) =>
  bytesOf(
    {
      SheetNames: ['Plants'],
      Sheets: { Plants: utils.aoa_to_sheet([...rows] as unknown[][]) },
      ...more,
    },
    bookType,
  )

/** Reads the values of the cells below the header. */
async function textsOf(bytes: Uint8Array): Promise<unknown[]> {
  const [, ...rows] = await rowsOf(bytes)
  return rows.map(({ cells }) =>
    (cells as readonly unknown[]).map((cell) =>
      typeof cell === 'object' && cell !== null && 'text' in cell ? cell.text : cell,
    ),
  )
}

const UNREADABLE =
  'OpenError: this cannot be read as a workbook: it is damaged, protected by a password, or another ZIP file'

const number = (v: number, z = 'General'): CellObject => ({ t: 'n', v, z })

describe('a cell of a workbook', () => {
  test.each([
    ['a date in any format', number(46143, 'd. mmmm yyyy'), '2026-05-01'],
    ['a date and a time', number(46143.525, 'm/d/yy h:mm'), '2026-05-01 12:36'],
    ['seconds', number(46143.525347222225, 'm/d/yy h:mm'), '2026-05-01 12:36:30'],
    ['a double just below a full minute', number(46143.37847222222, 'm/d/yy'), '2026-05-01 09:05'],
    ['a second before midnight', number(46143.999999, 'm/d/yy'), '2026-05-02'],
    ['a time without a day', number(0.2708333333333333, 'h:mm'), '06:30'],
    ['a date before the nonexistent 1900-02-29', number(59, 'm/d/yy'), '1900-02-28'],
    ['a date after the nonexistent 1900-02-29', number(61, 'm/d/yy'), '1900-03-01'],
    ['a duration', number(1.0625, '[h]:mm'), '25:30'],
    ['a price', number(3.5, '0.00 "€"'), '3.50 €'],
    ['a percentage', number(0.25, '0%'), '25%'],
    ['a sum of tenths', number(0.1 + 0.2), '0.3'],
    ['a barcode', number(4006381333931), '4006381333931'],
    ['a boolean', { t: 'b', v: true } as CellObject, 'TRUE'],
    ['a text with Windows line ends', 'two\r\nlines\rthree', 'two\nlines\nthree'],
    ['an error', { t: 'e', v: 42 } as CellObject, { error: '#N/A' }],
  ])('is read correctly: %s', async (_, cell, text) => {
    expect(await textsOf(workbook([['tag'], [cell]]))).toEqual([[text]])
  })

  test('is read correctly: a date counted from 1904', async () => {
    const rows = [['tag'], [number(44681, 'yyyy-mm-dd')]]
    const bytes = workbook(rows, 'xlsx', { Workbook: { WBProps: { date1904: true } } })

    expect(await textsOf(bytes)).toEqual([['2026-05-01']])
  })

  test.each(['xlsx', 'xlsm', 'xlsb', 'biff8', 'ods'] as const)(
    'is read correctly in every format: %s',
    async (type) => {
      const cells = [number(7), 'Fern', number(46143, 'yyyy-mm-dd')]
      const bytes = workbook([['id', 'name', 'tag'], cells], type)

      expect(await textsOf(bytes)).toEqual([['7', 'Fern', '2026-05-01']])
      expect((await read('xlsx', bytes)).entries).toEqual([
        { line: 2, plant: { id: 7n, name: 'Fern', tag: '2026-05-01' } },
      ])
    },
  )
})

test('a row with an error cell is refused, naming the cell, only if its column is used', async () => {
  const error: CellObject = { t: 'e', v: 42 }
  const bytes = workbook([
    ['id', 'name', 'tag', 'note'],
    [1, 'Fern', error, 'x'],
    [error, 'Ivy', 'shade', 'x'],
    [3, 'Moss', 'shade', error],
  ])

  expect((await read('xlsx', bytes)).entries).toEqual([
    { line: 2, problem: 'tag: #N/A in cell C2' },
    { line: 3, problem: 'id: #N/A in cell A3' },
    { line: 4, plant: { id: 3n, name: 'Moss', tag: 'shade' } },
  ])
})

test('an id is an exact integer, or refused', async () => {
  const ids = [1, 1.5, 2 ** 53 + 2, '9007199254740993', 2 ** 60]
  const bytes = workbook([['id', 'name'], ...ids.map((id) => [id, 'Fern'])])
  const { entries } = await read('xlsx', bytes)

  expect(entries.map((entry) => ('plant' in entry ? entry.plant.id : 'refused'))).toEqual([
    1n,
    'refused',
    'refused',
    9007199254740993n,
    'refused',
  ])
})

test('CDATA and numeric character references are read', async () => {
  const xml = `<row r="1">${inlineText('name')}</row><row r="2">${inlineText('<![CDATA[a & b]]>')}${inlineText('&#127793;&#x1F335;&#233;')}</row>`

  expect(await textsOf(packed(xml))).toEqual([['a & b', '🌱🌵é']])
})

test('the properties of an old workbook are skipped, however many it claims', async () => {
  const file = CFB.read(workbook([['name'], ['Fern']], 'biff8'), { type: 'array' })
  const summary = new DataView(new ArrayBuffer(4096))
  const kind = Buffer.from('e0859ff2f94f6810ab9108002b27b3d9', 'hex')
  summary.setUint16(0, 0xfffe, true)
  // One property set: its count, kind, offset, and claimed number of properties.
  summary.setUint32(24, 1, true)
  for (const [at, byte] of kind.entries()) summary.setUint8(28 + at, byte)
  summary.setUint32(44, 48, true)
  summary.setUint32(48, 4048, true)
  summary.setUint32(52, 4_000_000, true)
  CFB.utils.cfb_add(file, '/\u0005SummaryInformation', new Uint8Array(summary.buffer))
  const from = performance.now()

  expect(await textsOf(new Uint8Array(CFB.write(file, { type: 'array' })))).toEqual([['Fern']])
  expect(performance.now() - from).toBeLessThan(500)
})

test('a part in an undeclared encoding is refused', async () => {
  const sheet = `<worksheet xmlns="${MAIN}"><sheetData><row>${inlineText('Caf\u00e9')}</row></sheetData></worksheet>`
  const name = 'xl/worksheets/sheet1.xml'

  expect(await rowsOf(packed('', { [name]: strToU8(sheet) }))).toEqual([
    { line: 1, cells: ['Caf\u00e9'] },
  ])
  expect(await rowsOf(packed('', { [name]: strToU8(sheet, true) })).catch(String)).toBe(UNREADABLE)
})

test.each<BookType>(['xlsx', 'xlsb'])(
  'rows of an .%s workbook that a filter hides are read, and counted',
  async (bookType) => {
    const sheet = utils.aoa_to_sheet([['id', 'name'], [1, 'Fern'], [2, 'Moss'], [3, 'Rose'], []])
    sheet['!rows'] = [{}, { hidden: true }, {}, { hidden: true }, { hidden: true }]
    const bytes = bytesOf({ SheetNames: ['A'], Sheets: { A: sheet } }, bookType)

    const { notices, entries } = await read('xlsx', bytes)
    expect(notices).toEqual(['hidden rows are read too: 2'])
    expect(entries).toHaveLength(3)
  },
)

test('the visible sheets are named, and the requested one is read', async () => {
  const book: WorkBook = {
    SheetNames: ['Lists', 'Shade', 'Sun'],
    Sheets: {
      Lists: utils.aoa_to_sheet([['x']]),
      Shade: utils.aoa_to_sheet([['shade']]),
      Sun: utils.aoa_to_sheet([['sun']]),
    },
    Workbook: { Sheets: [{ Hidden: 1 }, { Hidden: 0 }, { Hidden: 0 }] },
  }
  const bytes = bytesOf(book)

  const first = await readWorkbook(bytes, null)
  expect({ ...first, rows: null }).toEqual({
    sheets: ['Shade', 'Sun'],
    sheet: 'Shade',
    hiddenRows: 0,
    rows: null,
  })
  expect(await rowsOf(bytes, 'Sun')).toEqual([{ line: 1, cells: ['sun'] }])
  expect(await readWorkbook(bytes, 'sun').catch(String)).toContain(
    'no sheet "sun"; the sheets are "Shade", "Sun"',
  )
})

test.each(['xlsx', 'xlsb', 'biff8'] as const)(
  'a hidden and an empty first sheet are skipped in %s',
  async (type) => {
    const sheet = (...rows: string[][]) => utils.aoa_to_sheet(rows)
    const book: WorkBook = {
      SheetNames: ['Lists', 'Empty', 'Plants'],
      Sheets: { Lists: sheet(['name'], ['x']), Empty: sheet(), Plants: sheet(['name'], ['Fern']) },
      Workbook: { Sheets: [{ Hidden: 1 }, { Hidden: 0 }, { Hidden: 0 }] },
    }

    expect(await textsOf(bytesOf(book, type))).toEqual([['Fern']])
  },
)

describe('a part with one damaged byte', () => {
  test.each([
    ['compressed', 6, 0],
    ['uncompressed', 0, 0],
    ['uncompressed, in more than one block', 0, 200_000],
  ] as const)('is refused: %s', async (_, level, blanks) => {
    const rows = `<row r="1">${inlineText('name')}</row><row r="2">${inlineText('Fern')}</row>`
    const name = 'xl/worksheets/sheet1.xml'
    const { [name]: sheet = new Uint8Array(), ...others } = unzipSync(
      packed(rows + ' '.repeat(blanks)),
    )
    const whole = zipSync({ [name]: sheet, ...others }, { level })
    expect(await textsOf(whole)).toEqual([['Fern']])

    // The data of the first part follows its name.
    const start = 30 + name.length
    const end = start + (level === 0 ? sheet.length : deflateSync(sheet).length)
    for (let at = start; at < end; at += Math.ceil((end - start) / 300)) {
      const damaged = whole.with(at, (whole[at] ?? 0) ^ 1)
      expect(await rowsOf(damaged).catch(String)).toBe(UNREADABLE)
    }
  })
})

test('a chart is not read as a sheet', async () => {
  const relation = (id: string, type: string) =>
    `<Relationship Id="${id}" Type="${OFFICE}/${type}" Target="${type}s/sheet1.xml"/>`
  const bytes = packed(`<row>${inlineText('name')}</row><row>${inlineText('Fern')}</row>`, {
    'xl/workbook.xml': strToU8(
      `<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><sheets><sheet name="Chart" sheetId="1" r:id="rId1"/><sheet name="Plants" sheetId="2" r:id="rId2"/></sheets></workbook>`,
    ),
    'xl/_rels/workbook.xml.rels': strToU8(
      `<Relationships xmlns="${PACKAGE}/relationships">${relation('rId1', 'chartsheet')}${relation('rId2', 'worksheet')}</Relationships>`,
    ),
    'xl/chartsheets/sheet1.xml': strToU8(`<chartsheet xmlns="${MAIN}"/>`),
  })

  expect(await textsOf(bytes)).toEqual([['Fern']])
  expect(await readWorkbook(bytes, 'Chart').catch(String)).toContain('a chart has no rows: "Chart"')
})

const odfText = (text: string, attributes = '') =>
  `<table:table-cell office:value-type="string"${attributes}><text:p>${text}</text:p></table:table-cell>`

test.each([
  ['#N/A', '#N/A'],
  ['#NV', '#VALUE!'],
  ['Err:522', '#VALUE!'],
])('the OpenDocument error %s is an error cell', async (text, error) => {
  const cell = odfText(text, ' office:string-value="" calcext:value-type="error"')
  const bytes = openDocument(
    `<table:table table:name="A"><table:table-row>${cell}${odfText(text)}</table:table-row></table:table>`,
  )

  expect(await rowsOf(bytes)).toEqual([{ line: 1, cells: [{ error }, text] }])
})

test('an unknown OpenDocument number format is ignored', async () => {
  const format =
    '<number:number-style style:name="N1"><style:map style:condition="value()&lt;0"/></number:number-style>'
  const row = `<table:table-row>${odfText('id')}${odfText('name')}</table:table-row>`

  expect(
    await rowsOf(openDocument(`<table:table table:name="A">${row}</table:table>`, format)),
  ).toEqual([{ line: 1, cells: ['id', 'name'] }])
})

describe('an OpenDocument cell', () => {
  const cell = (attributes: string, inside?: string) =>
    inside === undefined
      ? `<table:table-cell ${attributes}/>`
      : `<table:table-cell ${attributes}>${inside}</table:table-cell>`
  const date = (value: string) => `office:value-type="date" office:date-value="${value}"`
  const time = (value: string) => `office:value-type="time" office:time-value="${value}"`
  const shape = '<draw:g><draw:g><draw:rect><text:p>Sale</text:p></draw:rect></draw:g></draw:g>'
  const picture = '<draw:frame><draw:image><text:p/></draw:image></draw:frame>'

  test.each([
    ['a number without a text', cell('office:value-type="float" office:value="5"'), '5'],
    [
      'a text in an attribute',
      cell('office:value-type="string" office:string-value="Fern"'),
      'Fern',
    ],
    [
      'a text only in an attribute',
      cell('office:value-type="string" office:string-value="Fern"', ''),
      'Fern',
    ],
    [
      'a boolean without a text',
      cell('office:value-type="boolean" office:boolean-value="true"'),
      'TRUE',
    ],
    ['a date without a text', cell(date('2026-05-01')), '2026-05-01'],
    ['a date before 1900', cell(date('1753-05-01'), '<text:p>5/1/1753</text:p>'), '1753-05-01'],
    ['a negative time', cell(time('-PT06H30M00S'), '<text:p>-06:30</text:p>'), '-06:30'],
    [
      'a formula that shows a date',
      cell('office:value-type="float" office:value="46143"', '<text:p>01.05.26</text:p>'),
      '01.05.26',
    ],
    ['a date after 9999', cell(date('12026-05-01'), '<text:p>x</text:p>'), { error: '#####' }],
    [
      'a time beyond all dates',
      cell(time('PT9999999999999H00M00S'), '<text:p>x</text:p>'),
      { error: '#####' },
    ],
    ['a shape before the text', cell('', `${shape}<text:p>Fern</text:p>`), 'Fern'],
    ['a shape after the text', cell('', `<text:p>Fern</text:p>${shape}`), 'Fern'],
    ['a picture after the text', cell('', `<text:p>Fern</text:p>${picture}`), 'Fern'],
    ['a shape alone', cell('', shape), null],
  ])('is read correctly: %s', async (_, xml, text) => {
    const row = (cells: string) => `<table:table-row>${cells}</table:table-row>`
    const first = odfText('x')
    const bytes = openDocument(
      `<table:table table:name="A">${row(first)}${row(first + xml + first)}</table:table>`,
    )

    expect(await textsOf(bytes)).toEqual([['x', text, 'x']])
  })

  test('is read in each position if repeated', async () => {
    const repeated = cell(
      'office:value-type="string" office:string-value="Fern" table:number-columns-repeated="2"',
    )
    const bytes = openDocument(
      `<table:table table:name="A"><table:table-row table:number-rows-repeated="2">${repeated}</table:table-row></table:table>`,
    )

    expect((await rowsOf(bytes)).map(({ cells }) => cells)).toEqual(Array(2).fill(['Fern', 'Fern']))
  })
})

test('a row is refused for a formula without a stored value, not for one with an empty text', async () => {
  const rows = [
    '<c r="C2"><f>A2&amp;"x"</f><v></v></c>',
    '<c r="C3" t="n"><f t="shared" si="0"/><v/></c>',
    '<c r="C4"><f>1+1</f></c>',
    '<c r="C5" t="str"><f>""</f><v></v></c>',
    '<c r="C6"><f>1+1</f><v>2</v></c>',
  ].map((cell, at) => `<row r="${at + 2}"><c><v>${at}</v></c>${inlineText('Fern')}${cell}</row>`)
  const header = `<row r="1">${['id', 'name', 'tag'].map(inlineText).join('')}</row>`
  const { entries } = await read('xlsx', packed(header + rows.join('')))

  const refused = (line: number) => ({
    line,
    problem: `tag: a formula without a stored value in cell C${line}`,
  })
  expect(entries).toEqual([
    refused(2),
    refused(3),
    refused(4),
    { line: 5, plant: { id: 3n, name: 'Fern' } },
    { line: 6, plant: { id: 4n, name: 'Fern', tag: '2' } },
  ])
})

test('a row is refused for a date that Excel does not have', async () => {
  const dates = [-3, 2_958_466].map((date) => number(date, 'yyyy-mm-dd'))
  const rows = dates.map((date, at) => [at, 'Fern', date])
  const { entries } = await read('xlsx', workbook([['id', 'name', 'tag'], ...rows]))

  expect(entries).toEqual([2, 3].map((line) => ({ line, problem: `tag: ##### in cell C${line}` })))
})

test('a number that its format hides is an empty cell, except as an id', async () => {
  const hidden = number(0, '0;-0;;@')
  const bytes = workbook([
    ['id', 'name', 'tag'],
    [hidden, 'Fern', hidden],
    [1, hidden, null],
  ])
  const { entries } = await read('xlsx', bytes)

  expect(entries).toEqual([
    { line: 2, plant: { id: 0n, name: 'Fern' } },
    { line: 3, problem: expect.stringContaining(': cell B3 is empty') },
  ])
})

const compound = (...names: readonly string[]): Uint8Array => {
  const file = CFB.utils.cfb_new()
  for (const name of names) CFB.utils.cfb_add(file, name, new Uint8Array(64))
  return new Uint8Array(CFB.write(file, { type: 'array' }))
}
const intact = packed(`<row>${inlineText('name')}</row>`)

test.each([
  ['cut off', intact.subarray(0, intact.length / 2)],
  [
    'zeros',
    new Uint8Array(intact.length).fill(0).with(0, 0x50).with(1, 0x4b).with(2, 3).with(3, 4),
  ],
  ['without its shared strings', packed('<row r="1"><c t="s"><v>9</v></c></row>')],
  ['Excel with a password', compound('/EncryptionInfo', '/EncryptedPackage')],
  [
    'OpenDocument with a password',
    zipSync({
      'content.xml': new Uint8Array(64).fill(7),
      'META-INF/manifest.xml': strToU8(
        '<manifest:manifest><manifest:file-entry><manifest:encryption-data/></manifest:file-entry></manifest:manifest>',
      ),
    }),
  ],
  ['broken XML', openDocument('<table:table table:name="A"><table:shapes></table:table>')],
  ['a closing tag too many', openDocument('</table:table></a:b></office:p>')],
])('a workbook that cannot be read is refused with one message: %s', async (_, bytes) => {
  expect(await readWorkbook(bytes, null).catch(String)).toBe(UNREADABLE)
})

test('the thread that reads a workbook ends once the read is aborted', async () => {
  const abandoned = new AbortController()
  let isEnded = false
  const thread = {
    onmessage: null,
    onerror: null,
    postMessage: () => abandoned.abort(),
    terminate: () => {
      isEnded = true
    },
  }
  const { rows } = await readInThread(thread, { bytes: intact, sheet: null }, abandoned.signal)

  expect(rows).toEqual([])
  expect(isEnded).toBeTrue()
})

test('the header may be in any row; rows above it are skipped', async () => {
  const bytes = workbook([['A title'], [], ['id', 'name'], [1, 'Fern']])
  const { header, sample } = await open('xlsx', bytes, { headerRow: 3 })

  expect(header).toEqual(['id', 'name'])
  expect(sample.map(({ line }) => line)).toEqual([4])
  expect(await open('xlsx', bytes, { headerRow: 2 }).catch(String)).toContain(
    'row 2 is empty; the next row is 3',
  )
  expect(await open('xlsx', bytes, { headerRow: 9 }).catch(String)).toContain(
    'no row 9; the file ends before it',
  )
})

test('cells right of the last heading are left out, and their columns are named', async () => {
  const sheet = utils.aoa_to_sheet([
    ['id', 'name'],
    [1, 'Fern', null, 'a note'],
    [2, 'Ivy'],
    // Another, longer table beside the first.
    [null, null, null, null, 'Pots', 12],
    [3, 'Moss', '', null, 'Labels', 7],
  ])
  const bytes = bytesOf({ SheetNames: ['A'], Sheets: { A: sheet } })

  expect(await read('xlsx', bytes)).toEqual({
    entries: [
      { line: 2, plant: { id: 1n, name: 'Fern' } },
      { line: 3, plant: { id: 2n, name: 'Ivy' } },
      { line: 5, plant: { id: 3n, name: 'Moss' } },
    ],
    notices: ['not read, without a heading: column 4, column 5, column 6'],
  })
})
