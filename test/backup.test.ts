import { expect, test } from 'bun:test'
import { openSync, readdirSync, readFileSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { runProgram, startDaemon, temporaryFolder } from './daemon'

const lines = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => `{"id":${from + i},"name":"plant ${from + i}"}`).join(
    '\n',
  )

const importLines = (database: string, stdin: string) =>
  runProgram(['import', '-', '--format', 'ndjson', '--database', database], { stdin })

test('backs up a database while a daemon serves it, tokens included', async () => {
  using folder = temporaryFolder()
  const database = folder.file('plants.db')
  const copy = folder.file('copy.db')
  await runProgram(['token', 'create', 'laptop', '--database', database])
  await using daemon = await startDaemon({ database })
  await daemon.create('{"id":1,"name":"a"}')

  const backup = await runProgram(['backup', copy, '--database', database])
  const check = await runProgram(['check', '--database', copy])

  expect(backup).toEqual({ out: `backed up 1 plants to ${copy}\n`, err: '', code: 0 })
  expect(check.out).toStartWith('ok: 1 plants, 1 tokens, ')
  expect(statSync(copy).mode & 0o777).toBe(0o600)
  expect(readdirSync(folder.path).filter((name) => name.includes('.tmp'))).toEqual([])
})

test('never writes over a file with a backup', async () => {
  using folder = temporaryFolder()
  const copy = folder.file('copy.db')
  await importLines(folder.file('plants.db'), lines(0, 3))
  writeFileSync(copy, 'precious')

  const { err, code } = await runProgram(['backup', copy, '--database', folder.file('plants.db')])

  expect(code).toBe(2)
  expect(err).toContain('exists')
  expect(readFileSync(copy, 'utf8')).toBe('precious')
})

test('restores a backup, and keeps what it replaces', async () => {
  using folder = temporaryFolder()
  const database = folder.file('plants.db')
  await importLines(database, lines(0, 3))
  await runProgram(['backup', folder.file('copy.db'), '--database', database])
  await importLines(database, lines(3, 10))

  const { out, code } = await runProgram([
    'restore',
    folder.file('copy.db'),
    '--database',
    database,
  ])

  expect(code).toBe(0)
  const kept = /kept as (.+)\n/.exec(out)?.[1] ?? ''
  expect((await runProgram(['check', '--database', database])).out).toStartWith('ok: 3 plants')
  expect((await runProgram(['check', '--database', kept])).out).toStartWith('ok: 10 plants')
})

test('restores in the place of a damaged database, whose log it does not take over', async () => {
  using folder = temporaryFolder()
  const database = folder.file('plants.db')
  await importLines(database, lines(0, 3))
  await runProgram(['backup', folder.file('copy.db'), '--database', database])
  writeFileSync(database, 'no longer a database')
  writeFileSync(`${database}-wal`, 'nor a log')

  const { code } = await runProgram(['restore', folder.file('copy.db'), '--database', database])

  expect(code).toBe(0)
  expect((await runProgram(['check', '--database', database])).out).toStartWith('ok: 3 plants')
  expect(readdirSync(folder.path).filter((name) => name.endsWith('-wal'))).toEqual([
    expect.stringContaining('.replaced-'),
  ])
})

test('restores where there is no database yet', async () => {
  using folder = temporaryFolder()
  await importLines(folder.file('plants.db'), lines(0, 3))
  await runProgram(['backup', folder.file('copy.db'), '--database', folder.file('plants.db')])

  const { code } = await runProgram([
    'restore',
    folder.file('copy.db'),
    '--database',
    folder.file('new.db'),
  ])

  expect(code).toBe(0)
  expect((await runProgram(['check', '--database', folder.file('new.db')])).out).toStartWith(
    'ok: 3',
  )
})

test('refuses to restore while a daemon serves the database', async () => {
  using folder = temporaryFolder()
  const database = folder.file('plants.db')
  await importLines(database, lines(0, 3))
  await runProgram(['backup', folder.file('copy.db'), '--database', database])
  await using daemon = await startDaemon({ database })

  const { err, code } = await runProgram([
    'restore',
    folder.file('copy.db'),
    '--database',
    database,
  ])

  expect(code).toBe(1)
  expect(err).toContain('another plantstore serves')
  expect((await daemon.create('{"id":100,"name":"still here"}')).status).toBe(200)
})

test('finds a damaged page, and neither backs it up nor restores it', async () => {
  using folder = temporaryFolder()
  const database = folder.file('plants.db')
  await importLines(database, lines(0, 5000))
  writeSync(openSync(database, 'r+'), Buffer.alloc(4096, 0xa5), 0, 4096, 4096 * 6)

  const check = await runProgram(['check', '--database', database])
  const backup = await runProgram(['backup', folder.file('copy.db'), '--database', database])
  const restore = await runProgram(['restore', database, '--database', folder.file('other.db')])

  expect(check.code).toBe(1)
  expect(check.err).not.toBe('')
  expect(backup.code).not.toBe(0)
  expect(restore.code).not.toBe(0)
  expect(readdirSync(folder.path).filter((name) => !name.startsWith('plants.db'))).toEqual([])
})

test('refuses to check or back up what is not there or is no database', async () => {
  using folder = temporaryFolder()
  writeFileSync(folder.file('junk.db'), 'x'.repeat(5000))

  for (const name of ['none.db', 'junk.db']) {
    for (const command of [['check'], ['backup', folder.file('copy.db')]]) {
      const { err, code } = await runProgram([...command, '--database', folder.file(name)])
      expect({ code, lines: err.split('\n').length }).toEqual({ code: 1, lines: 2 })
    }
  }
  expect(readdirSync(folder.path)).toEqual(['junk.db'])
})
