import { expect, test } from 'bun:test'
import { appendFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { readWhenChanged } from '../../../src/engine/sqlite/reads'
import { temporaryFolder } from '../../harness/folder'

test('a poll of the change log reads only after the write-ahead log has changed', async () => {
  using folder = temporaryFolder()
  const path = folder.file('plants.db')
  let reads = 0
  const read = readWhenChanged(path, async () => {
    reads += 1
    return { entries: [], next: `${reads}` }
  })
  const wal = `${path}-wal`
  const poll = async () => (await read({ limit: 0 })).next
  const isOld = (seconds: number) => utimesSync(wal, seconds, seconds)

  // Without a write-ahead log, and while it was changed just now.
  expect([await poll(), await poll()]).toEqual(['1', '2'])
  writeFileSync(wal, 'frames')
  expect([await poll(), await poll()]).toEqual(['3', '4'])

  isOld(1000)
  expect([await poll(), await poll(), await poll()]).toEqual(['5', '5', '5'])
  appendFileSync(wal, 'more')
  isOld(1000)
  expect([await poll(), await poll()]).toEqual(['6', '6'])
  isOld(1001)
  expect([await poll(), await poll()]).toEqual(['7', '7'])
  rmSync(wal)
  expect([await poll(), await poll()]).toEqual(['8', '9'])
})
