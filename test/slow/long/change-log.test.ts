import { expect, test } from 'bun:test'
import { copyFileSync } from 'node:fs'
import type { KeepChanges } from '../../../src/change-log/change-log'
import { creation } from '../../../src/engine/commit/kinds'
import { openStore } from '../../../src/engine/engine'
import { copyDatabase } from '../../../src/engine/sqlite/backup'
import { prepareChangeLogWriter } from '../../../src/engine/sqlite/change-log'
import { connect } from '../../../src/engine/sqlite/connection'
import { restoreDatabase } from '../../../src/engine/sqlite/restore'
import { commandUser, storeOwner } from '../../../src/engine/store-user'
import type { Store } from '../../../src/store'
import { testChangeLog } from '../../engine/change-log-contract'
import { temporaryFolder } from '../../harness/folder'
import { range } from '../../harness/tested-store'

testChangeLog('SQLite', async () => {
  const folder = temporaryFolder()
  const path = folder.file('plants.db')
  let store: Store | undefined
  return {
    async open(keep) {
      await store?.close()
      store = await openAs(path, keep)
      return store
    },
    openForCommand: () => openStore(path, commandUser({ makesDatabase: false })),
    async copy() {
      await store?.close()
      store = undefined
      copyFileSync(path, folder.file('copy.db'))
      return async () => {
        await store?.close()
        store = undefined
        copyFileSync(folder.file('copy.db'), path)
      }
    },
    async [Symbol.asyncDispose]() {
      await store?.close()
      folder[Symbol.dispose]()
    },
  }
})

async function openAs(path: string, keep: KeepChanges): Promise<Store> {
  return openStore(
    path,
    storeOwner(
      () => {},
      () => {},
      keep,
    ),
  )
}

/** A database that keeps a change log of two plants, of which one was changed. */
async function makeLogged(path: string): Promise<string> {
  const store = await openAs(path, 1e9)
  await store.createPlants(range(1, 2))
  await store.patchPlant(1n, { tag: 't' })
  const cursor = (await store.changeLog?.read({ limit: 9 }))?.next
  await store.close()
  return cursor ?? ''
}

test('a removal takes the oldest thousand entries at once', async () => {
  using folder = temporaryFolder()
  const path = folder.file('plants.db')
  await (await openAs(path, 1)).close()
  using db = connect(path)
  const { add, remove } = prepareChangeLogWriter(db)
  const entries = (count: number) =>
    add(range(1, count).map((plant) => creation([Number(plant.id), plant.name, null], null)))
  const left = () => db.query<{ left: bigint }, []>('SELECT count(*) AS left FROM changes').get()

  entries(1500)
  Bun.sleepSync(5)
  remove(1500)
  expect(left()?.left).toBe(500n)
  entries(1000)
  Bun.sleepSync(5)
  remove(1500)

  expect(left()?.left).toBe(1000n)
  const numbers = db.query<[first: bigint, count: bigint], []>(
    'SELECT min(number), count(*) FROM changes',
  )
  const [[first = 0n, count] = []] = numbers.values() as [bigint, bigint][]
  expect(count).toBe(2500n - first + 1n)
})

test('a backup has the change log, and its restore begins a new one with the same entries', async () => {
  using folder = temporaryFolder()
  const path = folder.file('plants.db')
  const cursor = await makeLogged(path)
  await copyDatabase(path, folder.file('backup.db'), () => {})
  await restoreDatabase(folder.file('backup.db'), path, 'old', () => {})

  const store = await openAs(path, null)
  await expect(store.changeLog?.read({ after: cursor, limit: 9 })).rejects.toHaveProperty(
    'error',
    'cursor expired',
  )
  const { entries = [] } = (await store.changeLog?.read({ limit: 9 })) ?? {}
  expect(entries.map(({ action }) => action)).toEqual(['create', 'create', 'patch'])
  await store.close()
})
