import { Database } from 'bun:sqlite'
import { expect, setDefaultTimeout, test } from 'bun:test'
import { readdirSync, renameSync } from 'node:fs'
import { DONE } from '../../../src/engine/commit/write'
import { openStore } from '../../../src/engine/engine'
import { connect } from '../../../src/engine/sqlite/file/connection'
import { Doubts } from '../../../src/engine/sqlite/outages/settle'
import { prepareServing } from '../../../src/engine/sqlite/serving'
import { storeGuest, storeOwner } from '../../../src/engine/store-user'
import { messageOf } from '../../../src/errors'
import type { Log } from '../../../src/log'
import { PATIENCE_MS } from '../../harness/daemon'
import { temporaryFolder } from '../../harness/folder'
import { until } from '../../harness/until'

setDefaultTimeout(PATIENCE_MS)

const role = storeOwner(
  () => {},
  () => {},
)

test('ends with an answer to each batch in doubt, also to one that a probe waited behind', async () => {
  using folder = temporaryFolder()
  const path = folder.file('plants.db')
  const store = await openStore(path, role)
  await store.createPlant({ id: 1n, name: 'made' })
  await store.close()
  using db = connect(path)
  const connection = prepareServing(
    db,
    () => false,
    () => {},
  )

  const doubts = new Doubts()
  const promised = [
    doubts.promiseOutcomes({
      batch: [{ kind: 'create', row: [1, 'made', null], origin: null }],
      outcomes: [DONE],
      lastEntry: null,
    }),
    doubts.promiseOutcomes({
      batch: [{ kind: 'create', row: [2, 'not made', null], origin: null }],
      outcomes: [DONE],
      lastEntry: null,
    }),
    doubts.promiseOutcomes({ batch: [{ kind: 'probe' }], outcomes: [DONE], lastEntry: null }),
  ]

  doubts.settle(connection)
  const unanswered = Bun.sleep(5000).then(() => 'unanswered')
  expect(await Promise.all(promised.map((it) => Promise.race([it, unanswered])))).toEqual([
    [DONE],
    [{ error: 'cannot write' }],
    [DONE],
  ])
})

test('a store that is closed while it recovers leaves nothing open', async () => {
  using folder = temporaryFolder()
  const path = folder.file('plants.db')
  const store = await openStore(path, role)
  renameSync(path, `${path}.moved`)
  await expect(store.createPlant({ id: 1n, name: 'lost' })).rejects.toHaveProperty(
    'error',
    'cannot write',
  )
  renameSync(`${path}.moved`, path)
  const other = new Database(path)
  other.run('BEGIN IMMEDIATE')
  // By now it is opened again, and waits for the lock.
  await Bun.sleep(2000)

  const closed = store.close()
  await Bun.sleep(100)
  other.run('ROLLBACK')
  other.close(true)
  await closed

  expect(readdirSync(folder.path).sort()).toEqual(['plants.db', 'plants.db.reserve'])
})

test('failed attempts to recover leave nothing open', async () => {
  using folder = temporaryFolder()
  const path = folder.file('plants.db')
  let attempts = 0
  const log: Log = (_, event) => {
    if (event === 'storage-still-fails') attempts += 1
  }
  const store = await openStore(
    path,
    storeOwner(log, () => {}),
  )
  const other = new Database(path)
  other.run('ALTER TABLE plants RENAME TO hidden')
  await expect(store.createPlant({ id: 1n, name: 'lost' })).rejects.toHaveProperty(
    'error',
    'cannot write',
  )
  // Only the thread that reads needs this column.
  other.run('ALTER TABLE tokens RENAME COLUMN created_at TO made_at')
  other.run('ALTER TABLE hidden RENAME TO plants')

  await until('a second attempt', () => attempts >= 2)
  await store.close()
  other.close(true)

  expect(readdirSync(folder.path).sort()).toEqual(['plants.db', 'plants.db.reserve'])
})

test('a store that is closed refuses changes and reads', async () => {
  using folder = temporaryFolder()
  const store = await openStore(folder.file('plants.db'), role)
  await store.close()

  const plant = { id: 1n, name: 'late' }
  await expect(store.createPlant(plant)).rejects.toHaveProperty('error', 'cannot write')
  await expect(store.readPlant(1n)).rejects.toMatchObject({
    error: 'cannot read',
    message: 'cannot read from the database',
  })
})

class DyingWorker {
  onerror = (_: { readonly message: string }) => {}
  postMessage() {
    setImmediate(() => this.onerror({ message: 'EMFILE' }))
  }
  terminate() {}
}

class UnstartableWorker {
  constructor() {
    throw new Error('EAGAIN')
  }
}

test.each([
  ['dies before it has opened the database', DyingWorker, 'the committing thread died: EMFILE'],
  ['cannot be started', UnstartableWorker, 'EAGAIN'],
])(
  'a change is refused, and not in doubt, if the committing thread %s',
  async (_, fake, detail) => {
    using folder = temporaryFolder()
    const store = await openStore(folder.file('plants.db'), storeGuest({ makesDatabase: true }))
    const { Worker } = globalThis
    Object.assign(globalThis, { Worker: fake })
    const reason = await store.createPlant({ id: 1n, name: 'Rose' }).then(() => 'made', messageOf)
    await store.close()
    Object.assign(globalThis, { Worker })

    expect(reason).toBe(`cannot write to the database: ${detail}`)
  },
)
