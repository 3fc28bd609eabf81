import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { renameSync, rmSync, symlinkSync } from 'node:fs'
import { openStore } from '../../../src/engine/engine'
import { copyDatabase } from '../../../src/engine/sqlite/backup'
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

test('a replica reads the new target of its link, and its feed continues', async () => {
  using folder = temporaryFolder()
  const [link, nextLink] = [folder.file('current.db'), folder.file('next')]
  const first = await makeStore(folder.file('first.db'), [1n])
  await copyDatabase(folder.file('first.db'), folder.file('second.db'), () => {})
  const second = await makeStore(folder.file('second.db'), [2n])
  symlinkSync('first.db', link)
  const replica = await openStore(link, storeReader())
  let changes = 0
  const unwatch = replica.changeLog?.watch(() => {
    changes += 1
  })
  await until('the first poll', () => changes > 0)
  changes = 0

  symlinkSync('second.db', nextLink)
  renameSync(nextLink, link)

  await until('the change', () => changes > 0)
  expect(await replica.readPlant(2n)).toEqual({ id: 2n, name: 'Fern' })
  unwatch?.()
  for (const store of [replica, second, first]) await store.close()
})

test('a replica reports no age, and a file that it cannot use', async () => {
  using folder = temporaryFolder()
  const path = folder.file('plants.db')
  await (await makeStore(path, [1n])).close()
  const replica = await openStore(path, storeReader())
  const unknown = { replica: { lagSeconds: null, lagBytes: null }, walBytes: null }
  expect(replica.stats()).toMatchObject(unknown)

  new Database(path).run('DROP TABLE plants')
  await expect(replica.readPlant(1n)).rejects.toHaveProperty('error', 'storage failed')
  rmSync(path)
  symlinkSync(path, path)

  expect(replica.stats()).toMatchObject(unknown)
  await replica.close()
})
