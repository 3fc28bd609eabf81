import { expect, test } from 'bun:test'
import { renameSync, rmSync, statSync, symlinkSync, utimesSync } from 'node:fs'
import { openStore } from '../../../src/engine/engine'
import { copyDatabase } from '../../../src/engine/sqlite/copies/backup'
import { storeOwner, storeReader } from '../../../src/engine/store-user'
import { temporaryFolder } from '../../harness/folder'
import { until } from '../../harness/until'

/** A store with these plants, and its change log. */
async function makeStore(path: string, ids: readonly bigint[]) {
  const store = await openStore(
    path,
    storeOwner(
      () => {},
      () => {},
      1e9,
    ),
  )
  for (const id of ids) await store.createPlant({ id, name: 'Fern' })
  return store
}

test('a replica reads what its link is switched to, and its feed goes on', async () => {
  using folder = temporaryFolder()
  const [link, nextLink] = [folder.file('current.db'), folder.file('next')]
  const first = await makeStore(folder.file('first.db'), [1n])
  await copyDatabase(folder.file('first.db'), folder.file('second.db'))
  const second = await makeStore(folder.file('second.db'), [2n])
  const tenMinutesAgo = Date.now() / 1000 - 600
  for (const name of ['first.db', 'first.db-wal'])
    utimesSync(folder.file(name), tenMinutesAgo, tenMinutesAgo)
  symlinkSync('first.db', link)
  const replica = await openStore(link, storeReader())
  let changes = 0
  const unwatch = replica.changeLog?.watch(() => {
    changes += 1
  })
  const lag = () => replica.stats().replica?.lagSeconds
  await until('the first poll', () => changes > 0)
  expect(lag()).toBeGreaterThan(500)
  changes = 0

  symlinkSync('second.db', nextLink)
  renameSync(nextLink, link)

  await until('the change', () => changes > 0)
  expect(await replica.readPlant(2n)).toEqual({ id: 2n, name: 'Fern' })
  expect(lag()).toBeLessThan(500)
  unwatch?.()
  for (const store of [replica, second, first]) await store.close()
})

test('a replica without its file is as old as that was', async () => {
  using folder = temporaryFolder()
  const path = folder.file('plants.db')
  await (await makeStore(path, [1n])).close()
  const tenMinutesAgo = Date.now() / 1000 - 600
  utimesSync(path, tenMinutesAgo, tenMinutesAgo)
  const replica = await openStore(path, storeReader())
  expect(replica.stats().replica?.lagSeconds).toBeWithin(500, 3600)

  rmSync(path)

  expect(replica.stats().replica?.lagSeconds).toBeWithin(500, 3600)
  await replica.close()
})

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
