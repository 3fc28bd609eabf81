// Reads that take many turns of the event loop, each as of one moment.

import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { SnapshotReads } from '../../../src/engine/sqlite/reading/snapshot-reads'
import { listTags } from '../../../src/engine/sqlite/reading/tags'
import { RequestError } from '../../../src/errors'
import { openFiles } from '../../harness/open-files'
import { ownFolder } from '../../harness/own-folder'
import { errorOf, openAt } from '../../harness/postgres-store'
import { range } from '../../harness/tested-store'

const folder = ownFolder()

/** A database of so many plants with one tag, and snapshot reads of it. */
async function create(name: string, plants: number) {
  const path = folder.file(name)
  const store = await openAt(path)
  for (let start = 0; start < plants; start += 1000) {
    await store.createPlants(range(start, 1000).map((plant) => ({ ...plant, tag: 'a' })))
  }
  const access = { isReadable: true }
  const snapshots = new SnapshotReads({
    connect: () => new Database(path, { readwrite: true, safeIntegers: true }),
    async use(act) {
      if (!access.isReadable) throw new RequestError('cannot read')
      return act()
    },
  })
  return { path, store, snapshots, access }
}

test('a count of a tag in slices shows one moment, though plants are added and deleted meanwhile', async () => {
  const { store, snapshots } = await create('moment.db', 12_000)
  let slices = 0
  const page = await snapshots.read(
    (db) => listTags(db, { limit: 10 }),
    async (slice) => {
      slices += 1
      if (slices === 2) {
        await store.createPlant({ id: -1n, name: '', tag: 'b' })
        await store.deletePlant(11_000n)
        await store.patchPlant(11_001n, { tag: 'c' })
      }
      return slice()
    },
  )

  expect(page).toEqual({ tags: [{ tag: 'a', plants: 12_000 }], next: null })
  expect(slices).toBeGreaterThan(2)
  await store.close()
})

/** Reads a page of tags, and acts before its second slice. */
function readUntil(
  snapshots: SnapshotReads,
  act: () => unknown,
  signal?: AbortSignal,
): Promise<unknown> {
  let slices = 0
  return snapshots.read(
    (db) => listTags(db, { limit: 10 }),
    async (slice) => {
      slices += 1
      if (slices === 2) act()
      return slice()
    },
    signal,
  )
}

test('a read in slices ends, and leaves no file open, once the storage fails or its client has gone', async () => {
  const { path, store, snapshots, access } = await create('ends.db', 12_000)
  // SQLite keeps the file of a closed connection for the next one, while another connection is open.
  await readUntil(snapshots, () => {})
  const files = openFiles(path).length
  const client = new AbortController()
  expect(await errorOf(readUntil(snapshots, () => client.abort(), client.signal))).toBe('busy')
  expect(openFiles(path).length).toBe(files)
  expect(await errorOf(readUntil(snapshots, () => snapshots.end()))).toBe('cannot read')
  expect(openFiles(path).length).toBe(files)
  const failing = readUntil(snapshots, () => {
    access.isReadable = false
  })
  expect(await errorOf(failing)).toBe('cannot read')
  expect(openFiles(path).length).toBe(files)
  access.isReadable = true
  expect(await readUntil(snapshots, () => {})).toMatchObject({ tags: [{ plants: 12_000 }] })
  await store.close()
})

test('one read in slices is open at a time, in the order of the requests', async () => {
  const { path, store, snapshots } = await create('order.db', 6000)
  const ended: number[] = []
  const files = openFiles(path).length
  let most = 0
  const reads = [0, 1, 2, 3].map((n) =>
    readUntil(snapshots, () => {
      most = Math.max(most, openFiles(path).length)
    }).then(() => ended.push(n)),
  )
  await Promise.all(reads)

  expect(ended).toEqual([0, 1, 2, 3])
  expect(most - files).toBeLessThanOrEqual(3)
  await store.close()
})
