import { expect, setDefaultTimeout, test } from 'bun:test'
import { openSync, readdirSync, readFileSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { refusalOf, storeFolder } from '../../harness/commands'
import { PATIENCE_MS, runProgram } from '../../harness/daemon'

setDefaultTimeout(PATIENCE_MS)

test('a backup can be made while a daemon serves, and includes tokens', async () => {
  using folder = storeFolder()
  const copy = folder.file('copy.db')
  await using daemon = await folder.serve()
  await folder.run(['token', 'create', 'laptop'])
  await daemon.create(1, 'a')

  const backup = await folder.run(['backup', copy])
  const check = await runProgram(['check', '--database', copy])

  expect(backup).toEqual({ out: `backed up 1 plant to ${copy}\n`, err: '', code: 0 })
  expect(check.out).toStartWith('ok: 1 plant, 1 token, ')
  expect(statSync(copy).mode & 0o777).toBe(0o600)
  expect(readdirSync(folder.path).sort()).toEqual([
    'copy.db',
    'plants.db',
    'plants.db-shm',
    'plants.db-wal',
  ])
})

test('backup never overwrites a file', async () => {
  using folder = storeFolder()
  const copy = folder.file('copy.db')
  await folder.fill(3)
  writeFileSync(copy, 'precious')

  expect(refusalOf(await folder.run(['backup', copy]))).toBe(
    `${copy} already exists; give a new FILE`,
  )
  expect(readFileSync(copy, 'utf8')).toBe('precious')
})

test('the message says in one line that the folder of a file is missing', async () => {
  using folder = storeFolder()
  const { database } = folder
  await folder.fill(3)
  await folder.run(['backup', folder.file('copy.db')])

  const none = folder.file('none')
  for (const words of [
    ['backup', `${none}/new`, '--database', database],
    ['export', `${none}/new`, '--format', 'csv', '--database', database],
  ]) {
    expect(refusalOf(await runProgram(words))).toBe(
      `cannot write ${none}/new: no such file or folder`,
    )
  }
  const words = ['restore', folder.file('copy.db'), '--database', `${none}/new`]
  expect(refusalOf(await runProgram(words))).toStartWith(`folder ${none} does not exist; `)
})

test('check finds a damaged page, which backup and restore refuse', async () => {
  using folder = storeFolder()
  const { database } = folder
  await folder.fill(5000)
  writeSync(openSync(database, 'r+'), Buffer.alloc(4096, 0xa5), 0, 4096, 4096 * 20)

  const check = await folder.run(['check'])
  const backup = await folder.run(['backup', folder.file('copy.db')])
  const restored = await runProgram(['restore', database, '--database', folder.file('other.db')])
  const exported = await folder.run(['export', folder.file('a.csv')])
  const printed = await folder.run(['export'])

  expect(check.code).toBe(1)
  expect(check.err).not.toBe('')
  // The plants before the damaged page are printed by then.
  expect(printed.code).toBe(74)
  expect(printed.err).toMatch(/^plantstore: .*plants\.db is damaged.*\n$/)
  for (const { out, err, code } of [backup, restored, exported]) {
    expect({ out, code }).toEqual({ out: '', code: 74 })
    expect(err).toMatch(/^plantstore: .*plants\.db is damaged.*\n$/)
  }
  expect(readdirSync(folder.path).filter((name) => !name.startsWith('plants.db'))).toEqual([])
})
