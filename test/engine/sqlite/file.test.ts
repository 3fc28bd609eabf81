import { expect, test } from 'bun:test'
import { symlinkSync, writeFileSync } from 'node:fs'
import { fileSize, freeBytes } from '../../../src/engine/sqlite/files'
import { distrustPageCache, openFile } from '../../../src/engine/sqlite/open'
import { temporaryFolder } from '../../harness/folder'
import { openFiles } from '../../harness/open-files'

const openForReading = (path: string) => openFile(path, { isRead: true })

test('a file that is not a database is closed', () => {
  using folder = temporaryFolder()
  const path = folder.file('notes.txt')
  writeFileSync(path, 'not a database')

  expect(() => openForReading(path)).toThrow('is not a plantstore database')
  expect(() => openFile(path, { holdsLock: true, makesDatabase: false })).toThrow(
    'is not a plantstore database',
  )

  expect(openFiles(path)).toEqual([])
})

test('the pages of a database are read from the disk again, if it has any', () => {
  using folder = temporaryFolder()

  expect(() => distrustPageCache(folder.file('plants.db'))).not.toThrow()
  expect(() => distrustPageCache(folder.path)).toThrow('EISDIR')
  writeFileSync(folder.file('plants.db'), 'pages')
  distrustPageCache(folder.file('plants.db'))
  expect(openFiles(folder.path)).toEqual([])
  // A device without fsync.
  expect(() => distrustPageCache('/dev/null')).toThrow('EINVAL')
})

test('a path without a file has no size, and one without a folder no free space', () => {
  using folder = temporaryFolder()

  expect(fileSize(folder.file('none'))).toBe(0)
  expect(freeBytes(folder.file('none'))).toBeGreaterThan(0)
  expect(freeBytes(folder.file('none/plants.db'))).toBeNull()
})

test('the message says whether the database or its folder is missing', () => {
  using folder = temporaryFolder()
  const none = folder.file('none.db')
  const loop = folder.file('loop.db')
  symlinkSync(loop, loop)
  const open = (path: string, makesDatabase: boolean) =>
    openFile(path, { holdsLock: true, makesDatabase })

  expect(() => openForReading(none)).toThrow(`no database at ${none}; name another with --database`)
  expect(() => open(none, false)).toThrow(`no database at ${none}; name another with --database`)
  expect(() => open(folder.file('new/plants.db'), true)).toThrow(
    `folder ${folder.file('new')} does not exist`,
  )
  for (const makesDatabase of [false, true])
    expect(() => open(loop, makesDatabase)).toThrow(`cannot open ${loop}: `)
  expect(() => openForReading(loop)).toThrow(`cannot open ${loop}: `)
})
