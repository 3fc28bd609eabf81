import { expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { quote } from '../../../src/program'
import { refusalOf, storeFolder } from '../../harness/commands'
import { PATIENCE_MS, runProgram } from '../../harness/daemon'
import { storedPlants } from '../../harness/plants'
import { databaseAt } from '../../harness/server-database'

setDefaultTimeout(PATIENCE_MS)

async function importCsv(
  folder: ReturnType<typeof storeFolder>,
  stdin: Blob | string,
  ...flags: string[]
) {
  const { out, err, code } = await folder.load('csv', stdin, ...flags)
  return { out, err: err.replace(`created database ${folder.database}\n`, ''), code }
}

test('import prints no control characters of unused columns', async () => {
  using folder = storeFolder()
  const odd = ['\x1b[31mred', 'a\u202eb', '\u2028', '\x9b2J', '', 'x'.repeat(50), ...'abcdefg']
  const csv = `id,name,${odd.join(',')}\n1,a,${odd.map(() => '').join(',')}\n`

  const { err } = await importCsv(folder, csv)

  expect(err).toBe(
    `columns not used: "\\u001b[31mred", "a\\u202eb", column 5, "\\u009b2J", column 7, "${'x'.repeat(40)}", "a", "b", "c", "d", "e", "f" and 1 more\n`,
  )
})

test('--delimiter tab reads tab-separated fields', async () => {
  using folder = storeFolder()
  const content = 'id\tname\ttag\n1\ta;b\t"x\ty"\n2\tc,d\t\n'

  await importCsv(folder, content, '--delimiter', 'tab')

  expect(storedPlants(folder.database)).toEqual([
    { id: 1n, name: 'a;b', tag: 'x\ty' },
    { id: 2n, name: 'c,d', tag: null },
  ])
})

test.each([[['--no-header']], [['--header-row', '1']]])(
  '%p is refused for JSON whose rows are objects',
  async (flags) => {
    using folder = storeFolder()
    const { err, code } = await folder.load('json', '[{"id":1,\n"name":"Fern"}]', ...flags)

    expect(code).toBe(1)
    expect(err).toEndWith('the keys of its objects name the columns; it has no header row\n')
    expect(existsSync(folder.database)).toBeFalse()
  },
)

test('--delimiter takes precedence even if the header fits another', async () => {
  using folder = storeFolder()

  expect(refusalOf(await importCsv(folder, 'id,name\n1,a\n', '--delimiter=;'))).toStartWith(
    'standard input: no column "name"; found "id,name" separated by ";"; try: ',
  )
})

test.each([
  [['--delimiter', ';;'], '--delimiter must be one character, or "tab"'],
  [['--delimiter', 'a'], '--delimiter must be one character, or "tab"'],
  [['--delimiter', ';', '--format', 'ndjson'], '--delimiter is for CSV'],
  [['--sheet', 'a'], '--sheet is for workbooks (.xlsx)'],
  [['--encoding', 'macintosh', '--format', 'xlsx'], '--encoding is for text, not for workbooks'],
  [
    ['--encoding', 'klingon'],
    '--encoding must be an encoding, such as windows-1252, macintosh or utf-16le',
  ],
  [['--header-row', '2', '--no-header'], 'give --header-row or --no-header, not both'],
  [['--header-row', '0'], '--header-row must be a whole number from 1 to 1000000000'],
  [['--list', 'plants'], '--list is for JSON'],
  [['--name-column', 'name', '--name-column', ''], '--name-column must not be empty'],
  [['--number-from', '1', '--id-column', 'id'], 'give --id-column or --number-from, not both'],
  [['--number-from', 'x'], '--number-from must be a whole number'],
])('the flags %j are refused', async (flags, reason) => {
  using folder = storeFolder()

  expect(refusalOf(await importCsv(folder, 'id,name\n', ...flags), 2)).toBe(
    `${reason}; see "plantstore import --help"`,
  )
})

test.each([
  [
    '36,n,t\n37,m,u\n',
    'no column "name"; found "36", "n", "t"',
    ' --no-header --number-from 1 --name-column COLUMN',
  ],
  [
    'id,name,name\n1,a,b\n',
    'columns 2 and 3 are both "name"; name one by its number; found "id", "name", "name"',
    ' --name-column 2',
  ],
  ['name;Nr\na;1\n', 'no column "id"; found "name", "Nr"', ' --id-column Nr'],
])('import proposes a command if the columns do not fit: %p', async (stdin, found, options) => {
  using folder = storeFolder()

  const { err, code } = await importCsv(folder, stdin)

  const delimiter = stdin.includes(';') ? ';' : ','
  const database = quote(databaseAt(folder.database))
  const line = `plantstore import - --format csv${options} --database ${database}`
  expect({ err, code }).toEqual({
    err: `plantstore: standard input: ${found} separated by "${delimiter}"; try: ${line}\n`,
    code: 1,
  })
  expect(existsSync(folder.database)).toBeFalse()
})

test.each([
  [['--id-column', 'nope'], 'id,name\n1,Fern\n', ''],
  [['--id-column', '9'], 'id,name\n1,Fern\n', ''],
  [['--name-column', 'name'], 'id,name,name\n1,a,b\n', ' --name-column 2'],
  [['--id-column', 'nope', '--name-column', 'n'], 'id,n\n1,Fern\n', ' --name-column n'],
  [['--id-column', 'nope'], 'x,name\na,Fern\n', ' --id-column COLUMN'],
])('import proposes only columns that the file has: %p of %p', async (flags, stdin, options) => {
  using folder = storeFolder()

  const { err, code } = await importCsv(folder, stdin, ...flags)

  const database = quote(databaseAt(folder.database))
  expect(err).toEndWith(
    `; try: plantstore import - --format csv${options} --database ${database}\n`,
  )
  expect(code).toBe(1)
  if (options.includes('COLUMN')) return
  const words = options.split(' ').filter((word) => word !== '')
  expect((await importCsv(folder, stdin, ...words)).code).toBe(0)
})

test('the proposed command has no password', async () => {
  const { err, code } = await runProgram(['import', '-', '--format', 'csv'], {
    stdin: 'id,latin\n1,a\n',
    env: { PLANTSTORE_DATABASE: 'postgres://gardener:secret@db.invalid/plants' },
  })

  expect(err).toEndWith(
    'try: plantstore import - --format csv --name-column latin --database postgres://gardener@db.invalid/plants\n',
  )
  expect(err).not.toContain('secret')
  expect(code).toBe(1)
})

test.each([
  ['id,"na"me\n1,a\n', 'stray quote in column 2 of the header'],
  ['"id,name\n1,a\n', 'unterminated quote in column 1 of the header'],
])('a malformed header is refused: %p', async (stdin, message) => {
  using folder = storeFolder()

  expect(refusalOf(await importCsv(folder, stdin))).toBe(`standard input: ${message}`)
  expect(existsSync(folder.database)).toBeFalse()
})

test('import reports what was created if the rest of a file cannot be read', async () => {
  using folder = storeFolder()
  const rows = Array.from({ length: 100_000 }, (_, id) => `${id},plant ${id}\n`).join('')
  const bytes = Buffer.from(`id,name\n${rows}100000,caf\xe9\n`, 'latin1')

  const { out, code } = await importCsv(folder, new Blob([bytes]))

  const stored = storedPlants(folder.database).length
  expect(stored).toBeGreaterThan(0)
  expect(out).toStartWith(
    `created ${stored}, skipped 0, replaced 0, refused 0; ${stored} rows read; not read: the rest: not UTF-8 at line `,
  )
  expect(code).toBe(1)
})

test('a file with a bad byte near its end creates no plant', async () => {
  using folder = storeFolder()
  const rows = Array.from({ length: 5000 }, (_, id) => `${id},plant ${id}\n`).join('')
  const { database } = folder
  const file = folder.file('a.csv')
  await Bun.write(file, Buffer.from(`id,name\n${rows}7000,Bl\xfcte\n`, 'latin1'))

  expect(refusalOf(await folder.run(['import', file]))).toBe(
    `${file}: not UTF-8 at line 5002: it reads "7000,Blüte" as windows-1252; try: plantstore import ${file} --encoding windows-1252 --database ${quote(databaseAt(database))}`,
  )
  expect(existsSync(database)).toBeFalse()
})

test('import proposes no numbers that would replace other plants', async () => {
  using folder = storeFolder()
  const csv = 'Code,Latin name\nA1,Quercus alba\nA2,Acer rubrum\n'

  expect(refusalOf(await importCsv(folder, csv, '--replace'))).toContain(
    " --id-column COLUMN --name-column 'Latin name' --replace",
  )
})

test('a proposed command works even if a heading looks like a flag', async () => {
  using folder = storeFolder()
  const csv = '-Nr.,Name\n5,Fern\n6,Ivy\n'

  const { err } = await importCsv(folder, csv)
  const { out } = await importCsv(folder, csv, '--id-column=-Nr.', '--name-column', 'Name')

  expect(err).toContain(' --id-column=-Nr. --name-column Name')
  expect(out).toBe('created 2, skipped 0, replaced 0, refused 0; 2 rows read\n')
})

test('import proposes no encoding if several are possible', async () => {
  using folder = storeFolder()
  const [file, database] = [folder.file('a.csv'), folder.database]
  await Bun.write(file, Buffer.from('id,name\n1,Cr\xe8me\n', 'latin1'))

  const { err } = await folder.run(['import', file])

  expect(err).toBe(
    `plantstore: ${file}: not UTF-8 at line 2: it reads "1,Crème" as windows-1252, "1,Crčme" as windows-1250; try: plantstore import ${file} --encoding ENCODING --database ${quote(databaseAt(database))}\n`,
  )
})
