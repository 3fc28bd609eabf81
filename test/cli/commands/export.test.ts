import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { lstatSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { hasScript, onTerminal, storeFolder } from '../../harness/commands'
import { PATIENCE_MS, program, runProgram } from '../../harness/daemon'
import { CSV_HEADER, OTHER_CELLS } from '../../harness/fields'
import { storedPlants } from '../../harness/plants'

setDefaultTimeout(PATIENCE_MS)

// The program within a line of the shell: its standard output goes where that says.
const inShell = (line: string) => ['bash', '-c', `set -o pipefail; "$0" "$@" ${line}`]

test.each([1, 5000])(
  'export exits with 74 if the output cannot be written: %d plants',
  async (plants) => {
    using folder = storeFolder()
    const { database } = folder
    await folder.fill(plants)

    const args = ['--database', database]
    for (const words of [
      ['export', ...args],
      ['export', '/dev/full', '--format', 'csv', ...args],
      ['check', ...args],
      ['--help'],
      ['--version'],
    ]) {
      const { err, code } = await runProgram(words, { under: inShell('> /dev/full') })
      expect({ words, code }).toEqual({ words, code: 74 })
      expect(err).toMatch(/^plantstore: cannot write .+: disk full\n$/)
    }
    expect(lstatSync('/dev/full').isCharacterDevice()).toBeTrue()
  },
)

test.each([
  ['standard output', '| head -n 1'],
  ['a named pipe', '--format ndjson >(head -n 1); code=$?; wait $!; exit $code'],
])('export ends when its reader has gone: %s', async (_, to) => {
  using folder = storeFolder()
  await folder.fill(20_000)

  const { out, err, code } = await folder.run(['export'], {
    under: inShell(to),
  })

  expect({ out, code }).toEqual({ out: '{"id":0,"name":"plant 0"}\n', code: 0 })
  expect(
    Number(/^exported (\d+) plants; the reader closed the pipe$/m.exec(err)?.[1]),
  ).toBeLessThan(20_000)
})

test('export leaves a file alone that is named as the open file of another process', async () => {
  using folder = storeFolder()
  await folder.fill(2)
  const file = folder.file('notes')
  writeFileSync(file, 'a note')
  const other = Bun.spawn(['sleep', '60'], { stdin: Bun.file(file) })

  const { err, code } = await folder.run(['export', `/proc/${other.pid}/fd/0`, '--format', 'csv'])

  other.kill()
  expect(err).toContain(`/proc/${other.pid}/fd/0 is not a regular file; name a file`)
  expect({ code, note: readFileSync(file, 'utf8') }).toEqual({ code: 2, note: 'a note' })
})

test.each([
  ['a process', '>(cat > out.ndjson); wait $!'],
  ['standard output', '/dev/stdout | cat > out.ndjson'],
])('export writes to a named pipe: %s', async (_, to) => {
  using folder = storeFolder()
  await folder.fill(2)

  const { err, code } = await folder.run(['export', '--format', 'ndjson'], {
    cwd: folder.path,
    under: inShell(to),
  })

  expect({ err, code }).toEqual({ err: 'exported 2 plants\n', code: 0 })
  expect(readFileSync(folder.file('out.ndjson'), 'utf8')).toBe(
    '{"id":0,"name":"plant 0"}\n{"id":1,"name":"plant 1"}\n',
  )
})

test.skipIf(!hasScript)('export draws no progress bar if the plants go to a terminal', async () => {
  using folder = storeFolder()
  await folder.fill(3000)

  const words = ['export', '--database', folder.database]
  const { stdout } = onTerminal([...program, ...words])

  const [first, ...rest] = stdout.toString().split('\r\n')
  expect(first).toBe('{"id":0,"name":"plant 0"}')
  expect(rest.slice(2998)).toEqual(['{"id":2999,"name":"plant 2999"}', 'exported 3000 plants', ''])
  expect(stdout.toString()).not.toContain('plants/s')
})

test('the name "-" means standard output, and creates no file', async () => {
  using folder = storeFolder()
  await folder.fill(1)

  const { out, code } = await folder.run(['export', '-', '--format', 'csv'], { cwd: folder.path })

  expect({ out, code }).toEqual({ out: `${CSV_HEADER}\n0,plant 0,${OTHER_CELLS}\n`, code: 0 })
  expect(readdirSync(folder.path).filter((name) => !name.startsWith('plants.db'))).toEqual([])
})

test('export never overwrites the database', async () => {
  using folder = storeFolder()
  const { database } = folder
  await using daemon = await folder.serve()
  await daemon.create(1)
  symlinkSync(database, folder.file('link.csv'))

  for (const name of ['plants.db', 'plants.db-wal', 'plants.db-shm', 'link.csv']) {
    const { err, code } = await folder.run(['export', folder.file(name), '--format', 'csv'])
    expect({ name, code }).toEqual({ name, code: 2 })
    expect(err).toContain('is in use by this command')
  }
  expect((await daemon.create(2)).status).toBe(200)
})

test.each([
  ['appends to a file that the shell appends to', '/dev/stdout', '>> all', 'before\n'],
  ['continues at the position of the shell', '/dev/fd/7', '7>> all', 'before\n'],
])('an export %s', async (_, path, to, before) => {
  using folder = storeFolder()
  await folder.fill(1)
  await Bun.write(folder.file('all'), before)

  const { code } = await folder.run(['export', path, '--format', 'ndjson'], {
    cwd: folder.path,
    under: inShell(`${to}; code=$?; echo after >> all; exit $code`),
  })

  expect(code).toBe(0)
  expect(readFileSync(folder.file('all'), 'utf8')).toBe(
    `${before}{"id":0,"name":"plant 0"}\nafter\n`,
  )
})

test('--escape-formulas prefixes formulas with an apostrophe', async () => {
  using folder = storeFolder()
  const names = ['=1+1', '+1', '-1', '@A1', '\t=1', '\r=1', '＝1', 'a=1', "'=1", '']
  const stdin = names
    .map((name, n) => `${JSON.stringify({ id: n - 1, name, tag: name })}\n`)
    .join('')
  await folder.load('ndjson', stdin)

  const flags = ['--format', 'csv', '--escape-formulas']
  const { out, code } = await folder.run(['export', ...flags])
  const none = await folder.run(['export', '--format', 'ndjson', '--escape-formulas'])

  const cells = ["'=1+1", "'+1", "'-1", "'@A1", "'\t=1", '"\'\r=1"', "'＝1", 'a=1', "'=1", '""']
  const lines = cells.map((cell, n) => `${n - 1},${cell},${cell}${OTHER_CELLS}\n`)
  expect({ out, code }).toEqual({ out: `${CSV_HEADER}\n${lines.join('')}`, code: 0 })
  expect(none.code).toBe(2)
  expect(none.err).toStartWith('plantstore: --escape-formulas is for CSV; ')
})

describe('an exported workbook', () => {
  const PLANTS = [
    { id: 9007199254740993n, name: '000107', tag: '3/4' },
    { id: 9223372036854775807n, name: '=1+1' },
    { id: -(2n ** 63n), name: '-x', tag: '1e5' },
    { id: 1n, name: 'two\nlines', tag: ' space ' },
    { id: 2n, name: '_x0041_\u0001', tag: 'NA' },
    { id: 3n, name: 'TRUE', tag: '2026-05-01' },
  ]
  const stdinOf = (plants: readonly object[]) =>
    plants.map((plant) => JSON.stringify(plant, replaceBigInt)).join('\n')
  const replaceBigInt = (_: string, value: unknown) =>
    typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value

  async function exportBook(folder: ReturnType<typeof storeFolder>, plants: readonly object[]) {
    const { database } = folder
    await folder.load('ndjson', stdinOf(plants))
    const list = folder.file('list.xlsx')
    return { database, list, ...(await folder.run(['export', list])) }
  }

  test('has every plant as text, and changes none if it is imported with --replace', async () => {
    using folder = storeFolder()
    const { database, list, err, code } = await exportBook(folder, PLANTS)
    const before = storedPlants(database)

    const { out } = await folder.run(['import', list, '--replace'])
    const other = folder.file('other.db')
    await runProgram(['import', list, '--database', other])

    expect({ err, code }).toEqual({ err: 'exported 6 plants\n', code: 0 })
    expect(out).toBe('created 0, skipped 6, replaced 0, refused 0; 6 rows read\n')
    expect(before).toHaveLength(6)
    expect(storedPlants(other)).toEqual(before)
  })

  test('comes with a message about texts that it cannot keep', async () => {
    using folder = storeFolder()
    const { err, code } = await exportBook(folder, [
      { id: 1, name: 'Fern' },
      { id: 2, name: 'Ivy', tag: '' },
      { id: 3, name: 'two\r\nlines' },
    ])

    expect({ err, code }).toEqual({
      err: 'a cell keeps no empty text and no carriage return, as in 2 plants (first: 2); NDJSON keeps both\nexported 3 plants\n',
      code: 0,
    })
  })
})
