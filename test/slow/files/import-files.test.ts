// Files as people have them (test/real-world/README.md), as the command takes them, and what it says of those that it cannot.

import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { utils, write } from '@e965/xlsx'
import { quote } from '../../../src/program'
import { openDocument } from '../../formats/workbook'
import { PATIENCE_MS, root, runProgram, temporaryFolder } from '../../harness/daemon'
import { storedPlants } from '../../harness/plants'
import { WANTED_FILES } from './wanted-files'

setDefaultTimeout(PATIENCE_MS)

const files = join(root, 'test/real-world')

/** Imports a file into a database that is new; `words`: a command line's, after `plantstore import`. */
async function importFile(folder: { file(name: string): string }, ...words: string[]) {
  const database = folder.file('plants.db')
  const [name = '', ...options] = words
  const { out, err, code } = await runProgram([
    'import',
    join(files, name),
    ...options,
    '--database',
    database,
  ])
  const plants = existsSync(database)
    ? storedPlants(database).map(({ id, name: text, tag }) =>
        tag === null ? [id, text] : [id, text, tag],
      )
    : null
  return {
    out,
    err: err.replaceAll(`${files}/`, '').replace(`created database ${database}\n`, ''),
    code,
    plants,
  }
}

const fits: Record<
  string,
  { readonly words?: string[]; readonly plants: (bigint | string)[][]; readonly err?: string }
> = {
  'wider-rows.csv': {
    plants: [
      [1n, 'Fern', 'shade'],
      [2n, 'Ivy', 'climber'],
    ],
  },
  'short-rows.csv': {
    plants: [
      [1n, 'Fern', 'shade'],
      [2n, 'Ivy'],
      [3n, 'Moss'],
    ],
  },
  'blank-rows.csv': { plants: [[1n, 'Fern', 'shade']] },
  'spaces.csv': {
    plants: [
      [1n, ' Fern'.trim(), ' shade'],
      [2n, 'Ivy', ' climber'],
    ],
    err: 'line 2: the space around the tag " shade" is part of it\n',
  },
  'literal-quotes.tsv': {
    plants: [
      [1n, 'fern in a 6" pot', 'shade'],
      [2n, 'Rosa "Anna"', 'rose'],
      [3n, 'Ivy', 'climber'],
    ],
  },
  'macintosh.csv': { words: ['--encoding', 'macintosh'], plants: [[1n, 'Café fern', 'shade']] },
  'smart-quotes.csv': {
    words: ['--encoding', 'windows-1252'],
    plants: [
      [1n, 'Lady’s mantle', 'herb'],
      [2n, 'Rosa ‘Peace’', 'rose'],
      [3n, 'Hosta – mixed', 'shade'],
    ],
  },
  'cyrillic.csv': {
    words: ['--encoding', 'windows-1251'],
    plants: [
      [1n, 'Дуб', 'деревья'],
      [2n, 'Ель', 'хвойные'],
    ],
  },
  'polish.csv': {
    words: ['--encoding', 'windows-1250'],
    plants: [
      [1n, 'Dąb', 'drzewa'],
      [2n, 'Żywotnik', 'krzewy'],
    ],
  },
  'text-ids.csv': {
    words: ['--number-from', '1'],
    plants: [
      [1n, 'Fern'],
      [2n, 'Ivy'],
    ],
    err: 'columns not used: "ID"\n',
  },
  'no-id.csv': {
    words: ['--name-column', 'latin', '--number-from', '1'],
    plants: [[1n, 'Hedera helix']],
    err: 'columns not used: "dutch"\n',
  },
  'other-names.csv': {
    words: ['--id-column', 'plant_id', '--name-column', 'common_name', '--tag-column', 'family'],
    plants: [[1n, 'Fern', 'Polypodiaceae']],
  },
  'no-header.csv': {
    words: ['--no-header', '--name-column', '1', '--tag-column', '2', '--number-from', '10'],
    plants: [
      [10n, 'Tomato', 'Solanaceae'],
      [11n, 'Basil', 'Lamiaceae'],
      [12n, 'Chives', 'Amaryllidaceae'],
    ],
  },
  'herbarium.csv': {
    words: [
      '--id-column',
      'catalogNumber',
      '--name-column',
      'scientificName',
      '--tag-column',
      'family',
    ],
    plants: [
      [107n, 'Hedera helix L.', 'Araliaceae'],
      [108n, 'Viola × wittrockiana', 'Violaceae'],
      [109n, 'Acer pseudoplatanus L.', 'Sapindaceae'],
    ],
    err: 'columns not used: "occurrenceID", "institutionCode", "locality", "eventDate"\nleading zeros are dropped: 000107 becomes 107\n',
  },
  'price-list.csv': {
    words: [
      '--encoding',
      'windows-1252',
      '--id-column',
      'Artikel-Nr',
      '--name-column',
      'Bezeichnung',
      '--tag-column',
      'Gruppe',
    ],
    plants: [
      [1001n, 'Frauenmantel', 'Stauden'],
      [1002n, 'Günsel »Rosea«', 'Stauden'],
      [1003n, 'Große Sternmiere'],
    ],
    err: 'columns not used: "Preis"\n',
  },
  'download.tsv': {
    words: [
      '--id-column',
      'gbifID',
      '--name-column',
      'scientificName',
      '--tag-column',
      'verbatimLabel',
    ],
    plants: [
      [4021345678n, 'Hedera helix L.', 'pot 6" no. 4'],
      [4021345679n, 'Rosa "Anna"'],
      [4021345680n, 'Aloe vera (L.) Burm.f.', '"old label'],
    ],
    err: 'columns not used: "genus"\n',
  },
  'photo-first.csv': {
    words: ['--number-from', '1', '--name-column', 'nombre_cientifico', '--tag-column', 'familia'],
    plants: [
      [1n, 'Olea europaea', 'Oleaceae'],
      [2n, 'Salvia rosmarinus', 'Lamiaceae'],
    ],
    err: 'columns not used: "photo", "nombre_comun"\n',
  },
  'genus-species.csv': {
    words: ['--number-from', '1', '--name-column', 'Genus', '--name-column', 'Species'],
    plants: [
      [1n, 'Quercus alba'],
      [2n, 'Quercus rubra'],
      [3n, 'Morus alba'],
    ],
    err: 'columns not used: "Common Name", "Family"\n',
  },
  'title-row.csv': {
    words: [
      '--header-row',
      '3',
      '--id-column',
      'Nr',
      '--name-column',
      'Name',
      '--tag-column',
      'Gruppe',
    ],
    plants: [
      [1n, 'Fern', 'shade'],
      [2n, 'Ivy', 'climber'],
    ],
  },
  'title-row.xlsx': {
    words: ['--header-row', '2', '--id-column', 'No', '--name-column', 'Latin name'],
    plants: [
      [11n, 'Lamium album'],
      [12n, 'Acer campestre'],
    ],
    err: 'columns not used: "Group"\n',
  },
  'preamble.csv': { words: ['--header-row', '3'], plants: [[1n, 'Fern']] },
  'wrapped.json': {
    plants: [
      [1n, 'Fern'],
      [2n, 'Ivy'],
    ],
    err: 'reading the list "plants"\n',
  },
  'pretty.ndjson': {
    plants: [
      [1n, 'Fern'],
      [2n, 'Ivy'],
    ],
  },
  'features.geojson': {
    plants: [
      [1n, 'Lime'],
      [2n, 'Oak'],
    ],
    err: 'reading the list "features"\n',
  },
  'date-times.xlsx': {
    plants: [
      [1n, '00:02', '2026-05-01 00:02'],
      [2n, '06:30', '2026-05-01 06:30'],
      [3n, '09:05', '2026-05-01 09:05'],
      [4n, '12:36', '2026-05-01 12:36'],
    ],
  },
  'time-only.xlsx': {
    plants: [
      [1n, 'Fern', '06:30'],
      [2n, 'with seconds', '2026-05-01 12:36:30'],
    ],
  },
  'two-sheets.xlsx': {
    plants: [[1n, 'Fern']],
    err: 'sheet "Shade"; use --sheet to read "Sun"\n',
  },
  'hidden-first-sheet.xlsx': { plants: [[7n, 'Fern']] },
  'merged-tag.xlsx': {
    plants: [
      [1n, 'Fern', 'shade'],
      [2n, 'Hosta', 'shade'],
      [3n, 'Ivy', 'shade'],
    ],
  },
  'cells-without-r.xlsx': {
    plants: [
      [1n, 'Fern', 'shade'],
      [2n, 'Ivy'],
    ],
  },
  'side-note.xlsx': {
    plants: [
      [1n, 'Fern', 'shade'],
      [2n, 'Ivy', 'climber'],
    ],
    err: 'column 5 was not read: it has no heading\n',
  },
  'records-fields.json': {
    words: [
      '--id-column',
      'fields.nr',
      '--name-column',
      'fields.genus',
      '--name-column',
      'fields.species',
    ],
    plants: [
      [1n, 'Acer rubrum'],
      [2n, 'Quercus alba'],
    ],
    err: 'columns not used: "datasetid", "recordid", "geometry.type", "geometry.coordinates"\n',
  },
  'elements-tags.json': {
    words: ['--name-column', 'tags.species'],
    plants: [
      [11n, 'Acer rubrum'],
      [12n, 'Quercus alba'],
    ],
    err: 'columns not used: "type", "lat", "lon", "tags.natural"\nreading the list "elements"\n',
  },
  'rows-as-arrays.json': {
    plants: [
      [1n, 'Fern', 'shade'],
      [2n, 'Ivy', 'climber'],
    ],
  },
  'names-only.json': {
    words: ['--list', 'flowers', '--number-from', '1'],
    plants: [
      [1n, 'Fern'],
      [2n, 'Ivy'],
      [3n, 'Moss'],
    ],
    err: 'reading the list "flowers"\n',
  },
  'keyed-by-name.json': {
    words: ['--list', '*', '--name-column', 'key', '--number-from', '1'],
    plants: [
      [1n, 'Fern'],
      [2n, 'Ivy'],
    ],
    err: 'columns not used: "light"\nreading the list "*"\n',
  },
  'one-word-headings.csv': {
    words: ['--name-column', 'scientificname', '--tag-column', 'family'],
    plants: [
      [1n, 'Acer rubrum', 'Sapindaceae'],
      [2n, 'Quercus alba', 'Fagaceae'],
      [3n, 'Tilia cordata', 'Malvaceae'],
    ],
  },
  'emoji-reference.xlsx': { plants: [[1n, 'Fern 🌱']] },
  'collection.json': {
    words: ['--name-column', 'latin', '--tag-column', 'category', '--number-from', '1'],
    plants: [
      [1n, 'Monstera deliciosa', 'Aroid'],
      [2n, 'Ficus lyrata', 'Fig'],
      [3n, 'Aloe vera', 'Succulent'],
    ],
    err: 'columns not used: "common", "origin"\n',
  },
}

describe.each(Object.entries(fits))('%s', (name, { words = [], plants, err = '' }) => {
  test('is imported', async () => {
    using folder = temporaryFolder()

    const found = await importFile(folder, name, ...words)

    const rows = plants.length === 1 ? '1 row' : `${plants.length} rows`
    expect(found).toEqual({
      out: `created ${plants.length}, skipped 0, replaced 0, refused 0; ${rows} read\n`,
      err,
      code: 0,
      plants,
    })
  })

  test('is imported by the command that the message proposes, if it needs one', async () => {
    using folder = temporaryFolder()
    let found = await importFile(folder, name)
    // One message after the other: an encoding may hide the columns.
    for (let tries = 0; tries < 3 && found.plants?.length !== plants.length; tries++) {
      const [, line, numbering] =
        /try: plantstore import \S+ (.*) --database|\(use (--number-from)/.exec(found.err) ?? []
      const options = line ?? `${numbering} 1`
      // As a shell takes it.
      const words = options.match(/'[^']*'|\S+/g)?.map((word) => word.replace(/^'|'$/g, '')) ?? []
      found = await importFile(folder, name, ...words)
    }

    expect(found.plants).toHaveLength(plants.length)
    if (words.includes('--encoding') || name.endsWith('.json')) expect(found.plants).toEqual(plants)
  })
})

test.each(WANTED_FILES.map((wanted) => [wanted.file, wanted] as const))(
  '%s becomes what is wanted, by the lines that messages propose',
  async (file, { words = [], plants, err, proposed, refused = 0 }) => {
    using folder = temporaryFolder()
    let found = await importFile(folder, file, ...words)
    let line: string | undefined
    for (let tries = 0; tries < 3; tries++) {
      const [, options] = /try: plantstore import \S+ (.*) --database/.exec(found.err) ?? []
      if (options === undefined) break
      line = options
      if (/COLUMN|ENCODING/.test(options)) break
      expect(found.plants).toBeNull()
      const pasted = options.match(/'[^']*'|\S+/g)?.map((word) => word.replace(/^'|'$/g, '')) ?? []
      found = await importFile(folder, file, ...pasted)
    }

    expect(line).toBe(proposed)
    if (err === null) {
      expect(found.plants).toBeNull()
      return
    }
    const count = plants.length + refused
    expect(found).toEqual({
      out: `created ${plants.length}, skipped 0, replaced 0, refused ${refused}; ${count} ${count === 1 ? 'row' : 'rows'} read\n`,
      err,
      code: refused > 0 ? 1 : 0,
      plants: plants as (bigint | string)[][],
    })
  },
)

test('a workbook is imported, and a formula without a stored value is named by its cell', async () => {
  using folder = temporaryFolder()
  const words = [
    '--sheet',
    'Plants',
    '--id-column',
    'Nr.',
    '--name-column',
    'Plant',
    '--tag-column',
    'Bed',
  ]

  expect(await importFile(folder, 'workbook.xlsx', ...words)).toEqual({
    out: 'created 4, skipped 0, replaced 0, refused 1; 5 rows read\n',
    err: 'line 4: name: a formula without a stored value in cell B4\ncolumns not used: "Planted", "Watered"\nsheet "Plants"; use --sheet to read "Notes"\n',
    code: 1,
    plants: [
      [1n, 'Fern', 'shade'],
      [2n, 'Viola × wittrockiana'],
      [5n, '1/2', 'herb'],
      [9223372036854775807n, 'Ivy "Anna"\nwhite', 'climber'],
    ],
  })
})

test('ignores number formats that it does not know', async () => {
  using folder = temporaryFolder()
  const cells = ['id', 'name'].map(
    (it) => `<table:table-cell><text:p>${it}</text:p></table:table-cell>`,
  )
  const format =
    '<number:number-style style:name="N1"><style:map style:condition="value()&lt;0"/></number:number-style>'
  const row = `<table:table-row>${cells.join('')}</table:table-row>`
  await Bun.write(
    folder.file('a.ods'),
    openDocument(`<table:table table:name="A">${row}</table:table>`, format),
  )

  const database = folder.file('plants.db')
  const { err } = await runProgram(['import', folder.file('a.ods'), '--database', database])

  expect(err).toBe(`created database ${database}\n`)
})

test('dates and booleans of a workbook become what it shows', async () => {
  using folder = temporaryFolder()
  const words = [
    '--sheet',
    'Plants',
    '--number-from',
    '1',
    '--name-column',
    'Planted',
    '--tag-column',
    'Watered',
  ]

  const { plants } = await importFile(folder, 'workbook.xlsx', ...words)

  expect(plants).toEqual([
    [1n, '2026-05-01', 'TRUE'],
    [2n, '2026-05-02', 'FALSE'],
  ])
})

test.each([
  // The first row may be a plant.
  [
    'first-row-short.csv',
    'no column "name"; found "Fern", column 2 (comma-separated; change with --delimiter)',
    '--number-from 1 --name-column COLUMN',
  ],
])('%s is refused with %j, and a line to complete', async (name, message, options) => {
  using folder = temporaryFolder()

  const { out, err, code, plants } = await importFile(folder, name)

  expect({ out, code, plants }).toEqual({ out: '', code: 1, plants: null })
  expect(err).toBe(
    `plantstore: ${name}: ${message}; try: plantstore import ${quote(join(files, name)).replace(`${files}/`, '')} ${options} --database ${folder.file('plants.db')}\n`,
  )
})

test.each([
  ['workbook.xlsx', [], 'no column "name"; found "Counted in May" in sheet "Notes"'],
  ['workbook.xlsx', ['--sheet', 'None'], 'no sheet "None"; the sheets are "Notes", "Plants"'],
  [
    'workbook.xlsx',
    ['--format', 'csv'],
    'this is an Excel workbook; rename it to .xlsx, or use --format xlsx',
  ],
  ['zip-named.csv', [], 'this is a ZIP file; if it is an Excel workbook, rename it to .xlsx'],
  ['macintosh.csv', [], 'not UTF-8 at line 3: it reads "1,Café fern,shade" as macintosh'],
  ['price-list.csv', [], 'not UTF-8 at line 3: it reads "1002;Günsel »Rosea«;Stauden;2'],
  ['no-id.csv', ['--format', 'xlsx'], 'this is not a workbook; rename it to .csv if it is text'],
])('%s %j is refused with advice', async (name, words, message) => {
  using folder = temporaryFolder()

  const found = await importFile(folder, name, ...words)

  expect(found).toMatchObject({ out: '', code: 1, plants: null })
  expect(found.err).toStartWith(`plantstore: ${name}: ${message}`)
})

test.each([
  [
    '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1',
    'an old or a protected Excel workbook; rename it to .xls, or use --format xlsx',
  ],
  [
    `PK\x03\x04${'\0'.repeat(26)}mimetypeapplication/vnd.oasis.opendocument.spreadsheet`,
    'an OpenDocument spreadsheet; rename it to .ods, or use --format xlsx',
  ],
  ['\x1f\x8b\x08', 'a compressed file; unpack it first'],
  ['\x89PNG\r\n', 'a picture, not a table'],
  ['\xff\xd8\xff\xe0', 'a picture, not a table'],
  ['%PDF-1.7', 'a PDF'],
  ['SQLite format 3\0', 'an SQLite database'],
])(
  'a binary file is recognized by its first bytes, whatever its name: %j',
  async (head, message) => {
    using folder = temporaryFolder()
    for (const name of ['a.csv', 'a.pdf']) {
      const file = folder.file(name)
      await Bun.write(file, Buffer.from(head + 'x'.repeat(100), 'latin1'))

      const { err, code } = await runProgram(['import', file, '--database', folder.file('p.db')])

      expect(err).toStartWith(`plantstore: ${file}: this is ${message}`)
      expect(code).toBe(1)
    }
  },
)

test('ids that are texts are refused with the option that numbers the rows', async () => {
  using folder = temporaryFolder()

  const { err, code } = await importFile(folder, 'text-ids.csv')

  expect(code).toBe(1)
  expect(err).toStartWith(
    'line 2: id: "PL0001" is not a whole number; ids must be whole numbers (use --number-from',
  )
})

test('hidden-stop.csv is read up to a quoted cell that never ends, and the summary says where', async () => {
  using folder = temporaryFolder()

  const { out, err } = await importFile(folder, 'hidden-stop.csv')

  expect(out).toBe(
    'created 3, skipped 0, replaced 0, refused 25; 28 rows read; not read: from line 30 on: unterminated quote in "name"\n',
  )
  expect(err).toEndWith('\n5 more rows were refused\n')
})

test('an import that stops after many refused rows says so', async () => {
  using folder = temporaryFolder()
  const bad = Array.from({ length: 30 }, (_, n) => `P${n},a\n`).join('')
  await Bun.write(folder.file('a.csv'), `id,name\n${bad}1,good\n2,"never closed\n3,lost\n`)

  const { out, code } = await runProgram([
    'import',
    folder.file('a.csv'),
    '--database',
    folder.file('p.db'),
  ])

  expect({ out, code }).toEqual({
    out: 'created 1, skipped 0, replaced 0, refused 30; 31 rows read; not read: from line 33 on: unterminated quote in "name"\n',
    code: 1,
  })
})

test('every file of test/real-world has its test here', () => {
  const text =
    readFileSync(import.meta.path, 'utf8') + WANTED_FILES.map(({ file }) => `'${file}'`).join()
  const all = readdirSync(files).filter((name) => !/^README.md$|^large.py$/.test(name))

  expect(all.length).toBeGreaterThan(15)
  expect(all.filter((name) => !text.includes(`'${name}'`) && !text.includes(`${name} `))).toEqual(
    [],
  )
})

test('no-tag-column.csv --replace leaves the tags of stored.ndjson as they are', async () => {
  using folder = temporaryFolder()
  await importFile(folder, 'stored.ndjson')

  const plain = await importFile(folder, 'no-tag-column.csv')
  const dry = await importFile(folder, 'no-tag-column.csv', '--replace', '--dry-run')
  const { out, plants } = await importFile(folder, 'no-tag-column.csv', '--replace')

  expect([plain.out, plain.err]).toEqual([
    'created 0, skipped 1, replaced 0, refused 1; 2 rows read\n',
    'line 3: plant 2 is stored with another name; use --replace to update it\n',
  ])
  const counts = '1, refuse 0; 2 rows read; 2 keep their tag: the file has no column for it\n'
  expect(dry.out).toEndWith(`dry run; would create 0, skip 1, replace ${counts}`)
  expect(out).toBe(`created 0, skipped 1, replaced ${counts.replace('refuse', 'refused')}`)
  expect(plants).toEqual([
    [1n, 'Fern', 'shade'],
    [2n, 'Hedera', 'climber'],
  ])
})

test('empty-names.json is stored, and the summary counts the names that are empty', async () => {
  using folder = temporaryFolder()

  const { out, plants } = await importFile(folder, 'empty-names.json')

  expect(out).toBe(
    'created 2, skipped 0, replaced 0, refused 0; 2 rows read; 1 has an empty name\n',
  )
  expect(plants).toEqual([
    [1n, '', ''],
    [2n, 'Fern', ''],
  ])
})

test('an import empties the file of refused rows if it refuses none', async () => {
  using folder = temporaryFolder()
  const refused = folder.file('r.csv')

  await importFile(folder, 'today.csv', '--refused', refused)
  const today = readFileSync(refused, 'utf8')
  const { out, err } = await importFile(folder, 'tomorrow.csv', '--refused', refused)

  expect(today).toStartWith('id,name,reason\nx,Bad,')
  expect({ out, err }).toEqual({
    out: 'created 1, skipped 0, replaced 0, refused 0; 1 row read\n',
    err: '',
  })
  expect(readFileSync(refused, 'utf8')).toBe('')
})

test('plants.yaml and files of other kinds are refused in a sentence', async () => {
  using folder = temporaryFolder()
  await importFile(folder, 'plants.yaml').then((found) =>
    expect(found).toEqual({
      out: '',
      err: 'plantstore: plants.yaml: .yaml files are not read; save the table as CSV or .xlsx\n',
      code: 1,
      plants: null,
    }),
  )
  const utf32 = Buffer.from([...'id,name\n1,Fern\n'].flatMap((it) => [it.charCodeAt(0), 0, 0, 0]))
  await Bun.write(folder.file('a.csv'), utf32)
  await Bun.write(folder.file('plants.KML'), '<kml/>')
  await Bun.write(folder.file('nul.csv'), new Uint8Array(100))
  await Bun.write(folder.file('plants.psv'), 'id|name\n1|Fern\n')

  const messageOf = async (name: string) =>
    (await runProgram(['import', folder.file(name), '--database', folder.file('p.db')])).err
  expect(await messageOf('a.csv')).toEndWith('a.csv: this is a text in UTF-32; save it as UTF-8\n')
  expect(await messageOf('nul.csv')).not.toContain('UTF-32')
  expect(await messageOf('plants.KML')).toEndWith(
    '.kml files are not read; save the table as CSV or .xlsx\n',
  )
  expect(existsSync(folder.file('p.db'))).toBeFalse()
  expect(await messageOf('plants.psv')).toStartWith('created database ')
})

test('an empty sheet is refused, and makes no database, if there are others', async () => {
  using folder = temporaryFolder()
  const database = folder.file('p.db')
  const book = utils.book_new()
  utils.book_append_sheet(book, utils.aoa_to_sheet([]), 'Notes')
  utils.book_append_sheet(book, utils.aoa_to_sheet([['id', 'name']]), 'Plants')
  const file = folder.file('plants.xlsx')
  await Bun.write(file, write(book, { type: 'buffer', bookType: 'xlsx' }))
  const { out, err, code } = await runProgram(['import', file, '--database', database])

  expect({ out, code }).toEqual({ out: '', code: 1 })
  expect(err).toEndWith('the sheet "Notes" is empty; use --sheet to read "Plants"\n')
  expect(existsSync(database)).toBeFalse()
})

test('forty-columns.csv is refused with all of its columns', async () => {
  using folder = temporaryFolder()

  const { err, plants } = await importFile(folder, 'forty-columns.csv')

  expect(plants).toBeNull()
  expect(err).toContain('"c30", "plant_of_interest", "c32"')
  expect(err).toContain('"c39" (comma-separated')
})

describe('a dry run', () => {
  test('stores nothing, and prints what would be stored', async () => {
    using folder = temporaryFolder()
    const database = folder.file('plants.db')
    await Bun.write(
      folder.file('a.csv'),
      'id,name,other\n1,a,x\n2,b,x\n2,c,x\nx,d,x\n3,e,x\n1,a,x\n',
    )
    const words = ['import', folder.file('a.csv'), '--database', database]

    const fresh = await runProgram([...words, '--dry-run'])
    expect(existsSync(database)).toBeFalse()
    await runProgram(['import', '-', '--format', 'csv', '--database', database], {
      stdin: 'id,name\n2,z\n3,e\n',
    })
    const beside = await runProgram([...words, '--dry-run'])
    const replacing = await runProgram([...words, '--dry-run', '--replace'])

    expect(fresh).toEqual({
      out: 'preview:\n{"id":1,"name":"a"}\n{"id":2,"name":"b"}\n{"id":2,"name":"c"}\n{"id":3,"name":"e"}\n{"id":1,"name":"a"}\ndry run; would create 3, skip 1, replace 0, refuse 2; 6 rows read\n',
      err: 'line 4: plant 2 is stored with another name; use --replace to update it\nline 5: id: "x" is not a whole number; ids must be whole numbers (use --number-from to number the rows)\ncolumns not used: "other"\n',
      code: 1,
    })
    expect(beside.out).toEndWith('would create 1, skip 2, replace 0, refuse 3; 6 rows read\n')
    const note = '4 keep their tag: the file has no column for it'
    expect(replacing.out).toEndWith(
      `would create 1, skip 2, replace 2, refuse 1; 6 rows read; ${note}\n`,
    )
    expect(storedPlants(database)).toHaveLength(2)
    const real = await runProgram([...words, '--replace'])
    expect(real.out).toBe(`created 1, skipped 2, replaced 2, refused 1; 6 rows read; ${note}\n`)
  })
})

test('a dry run shows plants with characters beyond ASCII first, in the order of the file', async () => {
  using folder = temporaryFolder()
  const rows = Array.from({ length: 3000 }, (_, n) => `${n},Fern\n`).join('')
  await Bun.write(folder.file('a.csv'), `id,name\n${rows}7000,Frêne\n7001,Hêtre\n`)

  const { out } = await runProgram([
    'import',
    folder.file('a.csv'),
    '--dry-run',
    '--database',
    folder.file('p.db'),
  ])

  expect([...out.matchAll(/"id":(\d+)/g)].map(([, id]) => id)).toEqual([
    '0',
    '1',
    '2',
    '7000',
    '7001',
  ])
})

test('a dry run with --strict ends where the import would', async () => {
  using folder = temporaryFolder()
  const database = folder.file('plants.db')
  await Bun.write(folder.file('a.csv'), 'id,name\n1,a\n1,b\n2,c\nx,d\n')
  const words = ['import', folder.file('a.csv'), '--strict', '--database', database]

  const rehearsed = await runProgram([...words, '--dry-run'])
  const real = await runProgram(words)

  const rest = ' 1; 2 rows read; not read: what follows the first refused row (--strict)\n'
  expect(rehearsed.out).toEndWith(`dry run; would create 1, skip 0, replace 0, refuse${rest}`)
  expect(real.out).toBe(`created 1, skipped 0, replaced 0, refused${rest}`)
  expect(rehearsed.err).toBe(real.err.replace(/^created database.*\n/, ''))
  expect(rehearsed.code).toBe(1)
})

describe('--refused', () => {
  test('writes the refused rows unchanged, ready to fix and import again', async () => {
    using folder = temporaryFolder()
    const [database, refused] = [folder.file('plants.db'), folder.file('refused.csv')]
    await Bun.write(
      folder.file('a.csv'),
      'Nr;Name;Reason\n1;"a; b";\nx2;"c, ""d""";y\n3;"e"f;z\n1;other\n',
    )
    const words = ['--id-column', 'Nr', '--database', database]

    const { err, out } = await runProgram([
      'import',
      folder.file('a.csv'),
      '--refused',
      refused,
      ...words,
    ])

    expect(out).toBe('created 1, skipped 0, replaced 0, refused 3; 4 rows read\n')
    expect(err).toContain(
      `refused rows saved to ${refused}; fix them, then run: plantstore import ${refused} --id-column Nr --database ${database}\n`,
    )
    const text = readFileSync(refused, 'utf8')
    expect(
      text.split('\n').map((line) => line.replace(/,"?(id|line|stray|plant).*/, ',…')),
    ).toEqual([
      'Nr,Name,Reason,reason_',
      'x2,"c, ""d""",y,…',
      '3;"e"f;z,…'.replace('3;"e"f;z', '"3;""e""f;z",,'),
      '1,other,,…',
      '',
    ])
    await Bun.write(refused, text.replace('x2', '2'))
    const again = await runProgram(['import', refused, ...words])
    expect(again.out).toStartWith('created 1, skipped 0, replaced 0, refused 2; ')
    expect(storedPlants(database)).toContainEqual({ id: 2n, name: 'c, "d"', tag: null })
  })

  test('keeps the numbers of rows that are numbered', async () => {
    using folder = temporaryFolder()
    const [database, refused] = [folder.file('plants.db'), folder.file('refused.csv')]
    await Bun.write(folder.file('a.csv'), 'name\na\n"b"c\nd\n')

    await runProgram([
      'import',
      folder.file('a.csv'),
      '--number-from',
      '7',
      '--refused',
      refused,
      '--database',
      database,
    ])

    expect(readFileSync(refused, 'utf8')).toBe(
      'id,name,reason\n8,"""b""c","stray quote in ""name"""\n',
    )
    expect(storedPlants(database).map(({ id }) => id)).toEqual([7n, 9n])
  })

  test('names the columns of a numbered file by their places in the file that it writes', async () => {
    using folder = temporaryFolder()
    const [database, refused] = [folder.file('plants.db'), folder.file('refused.csv')]
    await Bun.write(folder.file('a.csv'), 'Fern,x\n"Ivy"c,y\nMoss,z,w\n')
    const words = ['--no-header', '--name-column', '1', '--tag-column', '2', '--number-from', '1']

    const { err } = await runProgram([
      'import',
      folder.file('a.csv'),
      ...words,
      '--refused',
      refused,
      '--database',
      database,
    ])

    expect(err).toContain(
      `then run: plantstore import ${refused} --name-column 'column 1' --tag-column 'column 2' --database ${database}\n`,
    )
  })

  test('writes refused rows of JSON as NDJSON, with exact ids', async () => {
    using folder = temporaryFolder()
    const [database, refused] = [folder.file('plants.db'), folder.file('refused.ndjson')]
    await Bun.write(
      folder.file('a.json'),
      '[{"id":9223372036854775807,"nam":"a"},{"id":1,"name":"b"}]',
    )

    await runProgram([
      'import',
      folder.file('a.json'),
      '--refused',
      refused,
      '--database',
      database,
    ])

    expect(readFileSync(refused, 'utf8')).toBe(
      '{"id":9223372036854775807,"nam":"a","reason":"name is missing"}\n',
    )
  })

  test.each([
    ['a.csv', 'id,name\nx,Fern\n', 'refused.txt', ''],
    ['a.csv', 'id,name\nx,Fern\n', 'refused', ' --format csv'],
    ['a.json', '[{"id":"x","name":"Fern"}]', 'refused.csv', ' --format ndjson'],
  ])(
    'on %s proposes a command that reads the file and stores the same: %p to %s',
    async (name, text, refusedName, format) => {
      using folder = temporaryFolder()
      const [database, refused] = [folder.file('other.db'), folder.file(refusedName)]
      await Bun.write(folder.file(name), text)
      const words = ['import', folder.file(name), '--replace', '--refused', refused]

      const { err } = await runProgram([...words, '--database', database])

      expect(err).toEndWith(
        `then run: plantstore import ${refused}${format} --replace --database ${database}\n`,
      )
    },
  )

  test('writes the texts of a workbook as they would be stored', async () => {
    using folder = temporaryFolder()
    const [database, refused] = [folder.file('plants.db'), folder.file('refused.csv')]
    const sheet = utils.aoa_to_sheet([
      ['id', 'name', 'tag'],
      ['x', { t: 'n', v: 5.5, z: '0.00' }, { t: 'n', v: 0.5, z: '0%' }],
      [{ t: 'n', v: 1234.5, z: '#,##0' }, 'Fern', { t: 'n', v: 46143, z: 'd/m/yy' }],
    ])
    await Bun.write(
      folder.file('a.xlsx'),
      write({ SheetNames: ['A'], Sheets: { A: sheet } }, { bookType: 'xlsx', type: 'array' }),
    )

    await runProgram([
      'import',
      folder.file('a.xlsx'),
      '--refused',
      refused,
      '--database',
      database,
    ])

    const rows = readFileSync(refused, 'utf8').split('\n')
    expect(rows.map((row) => row.split(',').slice(0, 3).join(','))).toEqual([
      'id,name,tag',
      'x,5.50,50%',
      '1234.5,Fern,2026-05-01',
      '',
    ])
  })

  test('makes an empty file where no row is refused, and does not write over what it reads', async () => {
    using folder = temporaryFolder()
    await Bun.write(folder.file('a.csv'), 'id,name\n1,a\n')
    const words = [
      'import',
      folder.file('a.csv'),
      '--database',
      folder.file('plants.db'),
      '--refused',
    ]

    const { code } = await runProgram([...words, folder.file('refused.csv')])
    const same = await runProgram([...words, folder.file('a.csv')])
    const database = await runProgram([...words, folder.file('plants.db')])

    expect({ code, text: readFileSync(folder.file('refused.csv'), 'utf8') }).toEqual({
      code: 0,
      text: '',
    })
    for (const { err, code: refusedCode } of [same, database]) {
      expect(err).toContain('is in use by this command; name another file')
      expect(refusedCode).toBe(2)
    }
  })
})

test('a proposed command stores nothing that the first would not have stored', async () => {
  using folder = temporaryFolder()
  const words = ['--dry-run', '--refused', 'refused.csv', '--strict', '--replace']

  const { err } = await importFile(folder, 'other-names.csv', ...words)

  expect(err).toContain(` ${words.join(' ')} --database ${folder.file('plants.db')}\n`)
})

test('a row is numbered by its position, so that the same command, run again, skips stored plants', async () => {
  using folder = temporaryFolder()
  const words = ['--name-column', 'latin', '--number-from', '1']

  await importFile(folder, 'no-id.csv', ...words)
  const { out } = await importFile(folder, 'no-id.csv', ...words)

  expect(out).toBe('created 0, skipped 1, replaced 0, refused 0; 1 row read\n')
})

test('CSV for spreadsheets begins with a byte order mark, and can be imported again', async () => {
  using folder = temporaryFolder()
  const database = folder.file('plants.db')
  await runProgram(['import', '-', '--format', 'csv', '--database', database], {
    stdin: 'id,name\n1,é\n',
  })

  await runProgram(['export', folder.file('a.csv'), '--escape-formulas', '--database', database])
  const { out } = await runProgram(['import', folder.file('a.csv'), '--database', database])

  expect(readFileSync(folder.file('a.csv'), 'utf8')).toBe('\ufeffid,name,tag\n1,é,\n')
  expect(out).toBe('created 0, skipped 1, replaced 0, refused 0; 1 row read\n')
})
