import { expect, test } from 'bun:test'
import { statSync, utimesSync } from 'node:fs'
import { openStore } from '../../../src/engine/engine'
import { storeOwner, storeReader } from '../../../src/engine/store-user'
import { temporaryFolder } from '../../harness/folder'

test('a replica is as old as the newest of its file and its write-ahead log', async () => {
  using folder = temporaryFolder()
  const path = folder.file('plants.db')
  const writer = await openStore(
    path,
    storeOwner(
      () => {},
      () => {},
    ),
  )
  await writer.createPlant({ id: 1n, name: 'Fern' })
  const replica = await openStore(path, storeReader())
  const now = Date.now() / 1000
  const lag = (fileAge: number, walAge: number) => {
    utimesSync(path, now, now - fileAge)
    utimesSync(`${path}-wal`, now, now - walAge)
    const { lagSeconds = null } = replica.stats().replica ?? {}
    return lagSeconds === null ? null : Math.floor(lagSeconds / 100) * 100
  }

  expect([lag(1000, 300), lag(300, 1000), lag(1000, -1000)]).toEqual([300, 300, 0])
  expect(statSync(`${path}-wal`).size).toBeGreaterThan(0)
  await replica.close()
  await writer.close()
})
