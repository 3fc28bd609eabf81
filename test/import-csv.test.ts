import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { runProgram, temporaryFolder } from './harness/daemon'
import { storedPlants } from './harness/plants'

async function importCsv(database: string, stdin: Blob | string) {
  const words = ['import', '-', '--format', 'csv', '--database', database]
  const { out, err, code } = await runProgram(words, { stdin })
  return { out, err: err.replace(`created database ${database}\n`, ''), code }
}

test('imports CSV with quotes, and reports its bad lines', async () => {
  using folder = temporaryFolder()
  const stdin =
    'id,name,tag\r\n1,"a ""quoted"", with\nlines",""\r\n2,b,\r\nx,c,\r\n3,d\r\n4,e,f\r\n'

  const { out, err, code } = await importCsv(folder.file('plants.db'), stdin)

  expect({ out, code }).toEqual({ out: 'created 3, skipped 0, replaced 0, refused 2\n', code: 1 })
  expect(err.split('\n').map((line) => line.split(':')[0])).toEqual(['line 5', 'line 6', ''])
  expect(storedPlants(folder.file('plants.db'))).toEqual([
    { id: 1n, name: 'a "quoted", with\nlines', tag: '' },
    { id: 2n, name: 'b', tag: null },
    { id: 4n, name: 'e', tag: 'f' },
  ])
})

test('stops reading at a stray quote, which it counts once', async () => {
  using folder = temporaryFolder()
  const lines = ['id,name,tag', '1,a,x', '2,"a"b"c"d,c', '3,ok,x', '4,"q",z', '5,ok,w', '']

  const { out, err, code } = await importCsv(folder.file('plants.db'), lines.join('\n'))

  expect({ out, code }).toEqual({ out: 'created 1, skipped 0, replaced 0, refused 1\n', code: 1 })
  expect(err).toBe('line 3: stray quote in "name"; the rest of the file was not read\n')
  expect(storedPlants(folder.file('plants.db'))).toEqual([{ id: 1n, name: 'a', tag: 'x' }])
})

test('takes line ends of any system and names in any case, and says once that a column is unknown', async () => {
  using folder = temporaryFolder()

  const csv = 'Id, NAME ,Tag,note\n1,a,x,?\r\n2,b,y,?\n3,c,,?\r\n'
  const { err } = await importCsv(folder.file('plants.db'), csv)

  expect(err).toBe('column "note" is ignored\n')
  expect(storedPlants(folder.file('plants.db'))).toEqual([
    { id: 1n, name: 'a', tag: 'x' },
    { id: 2n, name: 'b', tag: 'y' },
    { id: 3n, name: 'c', tag: null },
  ])
})

test.each([
  ['36,n,t\n37,m,u\n', ''],
  ['id,tag\n1,a\n', ''],
  ['id,name,name\n1,a,b\n', ''],
  ['id,name,Tag,tag\n1,a,b,c\n', ''],
  ['id;name;tag\n1;a;b\n', '; this file seems to use semicolons, save it with commas'],
  ['id\tname\n1\ta\n', '; this file seems to use tabs, save it with commas'],
])('refuses a header that is not id,name[,tag]: %p', async (stdin, hint) => {
  using folder = temporaryFolder()

  const { err, code } = await importCsv(folder.file('plants.db'), stdin)

  expect({ err, code }).toEqual({
    err: `plantstore: header must be id,name[,tag]${hint}\n`,
    code: 1,
  })
  expect(existsSync(folder.file('plants.db'))).toBeFalse()
})

test('tells what was created where the rest of a file cannot be read', async () => {
  using folder = temporaryFolder()
  const rows = Array.from({ length: 100_000 }, (_, id) => `${id},plant ${id}\n`).join('')
  const bytes = Buffer.from(`id,name\n${rows}100000,caf\xe9\n`, 'latin1')

  const { out, code } = await importCsv(folder.file('plants.db'), new Blob([bytes]))

  const stored = storedPlants(folder.file('plants.db')).length
  expect(stored).toBeGreaterThan(0)
  expect({ out, code }).toEqual({
    out: `created ${stored}, skipped 0, replaced 0, refused 0\n`,
    code: 1,
  })
})

test.each([
  ['Latin-1', Buffer.from('id,name\n1,caf\xe9\n', 'latin1')],
  ['cut off', Buffer.from('id,name\n1,caf\xc3', 'latin1')],
  ['UTF-16', Buffer.from('\ufeffid,name\n1,a\n', 'utf16le')],
  ['UTF-16 without its mark', Buffer.from('id,name\n1,a\n', 'utf16le')],
])('refuses a text that is not UTF-8: %s', async (_, bytes) => {
  using folder = temporaryFolder()

  const { err, code } = await importCsv(folder.file('plants.db'), new Blob([bytes]))

  expect(err).toMatch(/^plantstore: not UTF-8.*; convert with.* iconv.*\n$/)
  expect(code).toBe(1)
  expect(existsSync(folder.file('plants.db'))).toBeFalse()
})
