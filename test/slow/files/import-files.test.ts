// Real-world files (test/real-world/README.md) in the import command: the stored plants and the messages.

import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { utils, write } from '@e965/xlsx'
import { PATIENCE_MS, root, runProgram, temporaryFolder } from '../../harness/daemon'
import { storedPlants } from '../../harness/plants'
import { WANTED_FILES } from './wanted-files'

setDefaultTimeout(PATIENCE_MS)

const realWorld = join(root, 'test/real-world')

/** Splits a command line into words as a shell does. */
const wordsOf = (line: string) =>
  line.match(/'[^']*'|\S+/g)?.map((word) => word.replace(/^'|'$/g, '')) ?? []

/** Creates a folder in which commands run, with these files. */
async function start(texts: Record<string, string | Uint8Array> = {}) {
  const folder = temporaryFolder()
  for (const [name, text] of Object.entries(texts)) await Bun.write(folder.file(name), text)

  return {
    file: folder.file,
    [Symbol.dispose]: folder[Symbol.dispose],

    /** Imports a file of the folder, or of test/real-world if the folder lacks it. */
    async import(name: string, options = '', stdin = '') {
      const isThere = name === '-' || existsSync(folder.file(name))
      if (!isThere) await Bun.write(folder.file(name), Bun.file(join(realWorld, name)))
      const words = ['import', name, ...wordsOf(options)]
      const { out, err, code } = await runProgram(words, { cwd: folder.path, stdin })
      return { out, err: err.replace(/created database .*\n/, ''), code }
    },

    /** Returns the stored plants, or null if there is no database. */
    plants: () =>
      existsSync(folder.file('plants.db'))
        ? storedPlants(folder.file('plants.db')).map(({ id, name, tag }) =>
            [id, name, tag].filter((value) => value !== null).join(),
          )
        : null,
  }
}

const proposedIn = (err: string): string | undefined =>
  /; try: plantstore import \S+ (.*)\n/.exec(err)?.[1]

test.each(WANTED_FILES.map((wanted) => [wanted.file, wanted] as const))(
  '%s becomes the expected plants with the proposed commands',
  async (file, { words, plants, err = [], proposed, refused = 0, summary = '' }) => {
    using folder = await start()
    let found = await folder.import(file, words)
    let line: string | undefined
    for (let tries = 0; tries < 3; tries++) {
      const next = proposedIn(found.err)
      if (next === undefined) break
      line = next
      expect(folder.plants()).toBeNull()
      if (/COLUMN|ENCODING|LIST/.test(line)) break
      found = await folder.import(file, line)
    }

    expect(line).toBe(proposed)
    if (err === null) return
    const count = plants.length + refused
    expect(found).toEqual({
      out: `created ${plants.length}, skipped 0, replaced 0, refused ${refused}; ${count} ${count === 1 ? 'row' : 'rows'} read${summary}\n`,
      err: err.map((line) => `${line}\n`).join(''),
      code: refused > 0 ? 1 : 0,
    })
    expect(folder.plants()).toEqual([...plants])
  },
)

test('every file of test/real-world has a test', () => {
  const texts = ['import-files.test.ts', 'console-import.test.ts', 'wanted-files.ts'].map((name) =>
    readFileSync(join(import.meta.dir, name), 'utf8'),
  )
  const all = readdirSync(realWorld).filter((name) => !/^README.md$|^large.py$/.test(name))

  expect(all.length).toBeGreaterThan(15)
  expect(all.filter((name) => !texts.some((text) => text.includes(`'${name}`)))).toEqual([])
})

const NOT_TEXT = 'this is not text; save the table as CSV or .xlsx\n'

test.each([
  ['plants.yaml', '', '.yaml files are not read; save the table as CSV or .xlsx\n'],
  ['zip-named.csv', '', 'this cannot be read as a workbook: it is damaged, protected by'],
  [
    'workbook.xlsx',
    '',
    'no column "name"; found "Counted in May" in sheet "Notes"; other sheets: "Plants"; try: plantstore import workbook.xlsx --number-from 1 --name-column COLUMN\n',
  ],
  ['workbook.xlsx', '--format csv', NOT_TEXT],
  ['no-id.csv', '--format xlsx', 'this is not a workbook; save the table as .xlsx'],
  ['forty-columns.csv', '', /"c30", "plant_of_interest", .* "c39" separated by ","; try/],
])('%s %s is refused with one message, without a database', async (name, options, message) => {
  using folder = await start()
  const { out, err, code } = await folder.import(name, options)

  expect({ out, code, plants: folder.plants() }).toEqual({ out: '', code: 1, plants: null })
  expect(err).toStartWith(`plantstore: ${name}: `)
  expect(err).toMatch(message)
})

describe('a dry run', () => {
  test('stores nothing, and prints what would be stored', async () => {
    using folder = await start({
      'a.csv': 'id,name,other\n1,a,x\n2,b,x\n2,c,x\nx,d,x\n3,e,x\n1,a,x\n',
    })

    const fresh = await folder.import('a.csv', '--dry-run')
    expect(folder.plants()).toBeNull()
    await folder.import('-', '', 'id,name\n2,z\n3,e\n')
    const beside = await folder.import('a.csv', '--dry-run')
    const replacing = await folder.import('a.csv', '--dry-run --replace')

    expect(fresh).toEqual({
      out: 'preview:\n{"id":1,"name":"a"}\n{"id":2,"name":"b"}\n{"id":2,"name":"c"}\n{"id":3,"name":"e"}\n{"id":1,"name":"a"}\ndry run; would create 3, skip 1, replace 0, refuse 2; 6 rows read\n',
      err: 'line 4: plant 2 is stored with another name; use --replace to update it\nline 5: id: "x" is not a whole number; ids must be whole numbers (use --number-from to number the rows)\ncolumns not used: "other"\n',
      code: 1,
    })
    expect(beside.out).toEndWith('would create 1, skip 2, replace 0, refuse 3; 6 rows read\n')
    const note = 'stored plants keep their tag: no column of the file has it'
    expect(replacing.out).toEndWith(
      `would create 1, skip 2, replace 2, refuse 1; 6 rows read; ${note}\n`,
    )
    expect(folder.plants()).toHaveLength(2)
    const real = await folder.import('a.csv', '--replace')
    expect(real.out).toBe(`created 1, skipped 2, replaced 2, refused 1; 6 rows read; ${note}\n`)
  })

  test('shows the first plants, and those with non-ASCII characters, in the order of the file', async () => {
    const rows = Array.from({ length: 3000 }, (_, n) => `${n},Fern\n`).join('')
    using folder = await start({ 'a.csv': `id,name\n${rows}7000,Frêne\n7001,Hêtre\n` })
    const { out } = await folder.import('a.csv', '--dry-run')

    expect([...out.matchAll(/"id":(\d+)/g)].map(([, id]) => id).join()).toBe('0,1,2,7000,7001')
  })
})

test('--refused writes the refused rows unchanged, ready to fix and import again', async () => {
  using folder = await start({
    'a.csv': 'Nr;Name;Reason\n1;"a; b";\nx2;"c, ""d""";y\n3;"e"f;z\n1;other\n',
  })
  const { err, out } = await folder.import('a.csv', '--id-column Nr --refused refused.csv')

  expect(out).toBe('created 1, skipped 0, replaced 0, refused 3; 4 rows read\n')
  expect(err).toContain(
    'refused rows saved to refused.csv; fix them, then run: plantstore import refused.csv --id-column Nr\n',
  )
  const text = readFileSync(folder.file('refused.csv'), 'utf8')
  expect(text.split('\n').map((line) => line.replace(/,"?(id|line|stray|plant).*/, ',…'))).toEqual([
    'Nr,Name,Reason,reason_',
    'x2,"c, ""d""",y,…',
    '"3;""e""f;z",,,…',
    '1,other,,…',
    '',
  ])
  await Bun.write(folder.file('refused.csv'), text.replace('x2', '2'))
  const again = await folder.import('refused.csv', '--id-column Nr')
  expect(again.out).toStartWith('created 1, skipped 0, replaced 0, refused 2; ')
  expect(folder.plants()).toContain('2,c, "d"')
})

test('--refused keeps the ids of numbered rows', async () => {
  using folder = await start({ 'a.csv': 'name\na\n"b"c\nd\n' })
  await folder.import('a.csv', '--number-from 7 --refused r.csv')

  expect(readFileSync(folder.file('r.csv'), 'utf8')).toBe(
    'id,name,reason\n8,"""b""c","stray quote in ""name"""\n',
  )
  expect(folder.plants()).toEqual(['7,a', '9,d'])
})

test('--refused writes refused rows of JSON as NDJSON, with exact ids', async () => {
  using folder = await start({
    'a.json': '[{"id":9223372036854775807,"nam":"a"},{"id":1,"name":"b"}]',
  })
  await folder.import('a.json', '--refused r.ndjson')

  expect(readFileSync(folder.file('r.ndjson'), 'utf8')).toBe(
    '{"id":9223372036854775807,"nam":"a","reason":"name is missing"}\n',
  )
})

test('--refused writes the texts of a workbook as they would be stored', async () => {
  const sheet = utils.aoa_to_sheet([
    ['id', 'name', 'tag'],
    ['x', { t: 'n', v: 5.5, z: '0.00' }, { t: 'n', v: 0.5, z: '0%' }],
    [{ t: 'n', v: 1234.5, z: '#,##0' }, 'Fern', { t: 'n', v: 46143, z: 'd/m/yy' }],
  ])
  const book = { SheetNames: ['A'], Sheets: { A: sheet } }
  using folder = await start({ 'a.xlsx': write(book, { bookType: 'xlsx', type: 'buffer' }) })
  await folder.import('a.xlsx', '--refused r.csv')

  const rows = readFileSync(folder.file('r.csv'), 'utf8').split('\n')
  expect(rows.map((row) => row.split(',').slice(0, 3).join(','))).toEqual([
    'id,name,tag',
    'x,5.50,50%',
    '1234.5,Fern,2026-05-01',
    '',
  ])
})

test.each([
  ['a.csv', 'id,name\nx,Fern\n', '--replace', 'r.txt', '--replace'],
  ['a.json', '[{"id":"x","name":"Fern"}]', '--replace', 'r.csv', '--format ndjson --replace'],
  [
    'a.csv',
    'Fern,x\n"Ivy"c,y\nMoss,z,w\n',
    '--no-header --name-column 1 --tag-column 2 --number-from 1',
    'r.csv',
    "--name-column 'column 1' --tag-column 'column 2'",
  ],
])(
  '--refused on %s proposes a command that reads the file and stores the same: %p',
  async (name, text, options, refused, proposed) => {
    using folder = await start({ [name]: text })
    const { err } = await folder.import(name, `${options} --refused ${refused}`)

    expect(err).toEndWith(`then run: plantstore import ${refused} ${proposed}\n`)
  },
)

test('--refused is emptied by an import that refuses no row', async () => {
  using folder = await start({ 'a.csv': 'id,name\n1,a\n', 'r.csv': 'of yesterday' })

  expect((await folder.import('a.csv', '--refused r.csv')).code).toBe(0)
  expect(readFileSync(folder.file('r.csv'), 'utf8')).toBe('')
})

test('a proposed command stores nothing that the first would not have stored', async () => {
  using folder = await start()
  const options = '--dry-run --refused refused.csv --strict --replace'
  const { err } = await folder.import('other-names.csv', options)

  expect(err).toEndWith(` ${options}\n`)
})

test('a proposed command keeps the options that still apply', async () => {
  using folder = await start({ 'a.csv': 'Nr,latin,dutch,bed\n1,Hedera helix,klimop,A\n' })
  const propose = async (options: string) => proposedIn((await folder.import('a.csv', options)).err)

  expect(await propose('--name-column dutch --tag-column bed')).toBe(
    '--id-column Nr --name-column dutch --tag-column bed',
  )
  expect(await propose('--name-column nope --tag-column bed --number-from 7')).toBe(
    '--number-from 7 --name-column latin --tag-column bed',
  )
})

test('CSV for spreadsheets begins with a byte order mark, and can be imported again', async () => {
  using folder = await start({ 'b.csv': 'id,name\n1,é\n' })
  await folder.import('b.csv')

  await runProgram(['export', 'a.csv', '--escape-formulas'], { cwd: folder.file('.') })
  const { out } = await folder.import('a.csv')

  expect(readFileSync(folder.file('a.csv'), 'utf8')).toBe('\ufeffid,name,tag\n1,é,\n')
  expect(out).toBe('created 0, skipped 1, replaced 0, refused 0; 1 row read\n')
})
