// The contract of a change log in PostgreSQL, and its use by several processes.
import { expect } from 'bun:test'
import { SQL } from 'bun'
import type { KeepChanges } from '../../../src/change-log/change-log'
import { createChangeLogReader } from '../../../src/engine/change-log-reader'
import { openStore } from '../../../src/engine/engine'
import { changeLogQueries } from '../../../src/engine/postgres/sql/change-log'
import { commandUser } from '../../../src/engine/store-user'
import type { Store } from '../../../src/store'
import type { PostgresServer } from '../../../tools/postgres/server'
import { follow, testChangeLog } from '../../engine/change-log-contract'
import { onServers, onVersions } from '../../harness/own-server'
import {
  beginOther,
  type Logged,
  nameOf,
  newDatabase,
  openAt,
  untilLockWaits,
} from '../../harness/postgres-store'
import { allPlants, range } from '../../harness/tested-store'

const openKeeping = (url: string, keep: KeepChanges) => openAt(url, [], keep)

/** A database whose change log a test begins, copies and restores. */
async function openLogged(server: PostgresServer) {
  const url = await newDatabase(server)
  const name = nameOf(url)
  let store: Store | undefined
  const close = async () => {
    await store?.close()
    store = undefined
  }
  return {
    async open(keep: KeepChanges) {
      await close()
      store = await openKeeping(url, keep)
      return store
    },
    openForCommand: () => openStore(url, commandUser({ makesDatabase: false })),
    async copy() {
      await close()
      await server.query(`CREATE DATABASE ${name}_copy TEMPLATE ${name}`)
      return async () => {
        await close()
        await server.query(`DROP DATABASE ${name} WITH (FORCE)`)
        await server.query(`CREATE DATABASE ${name} TEMPLATE ${name}_copy`)
      }
    },
    [Symbol.asyncDispose]: close,
  }
}

const SUBJECT = 'the change log in %s'
const test = onServers(SUBJECT)
onVersions(SUBJECT)('meets its contract', ({ installation, startServer }) =>
  testChangeLog(installation.name, async () => openLogged(await startServer())),
)

test('never logs a create of a plant that another process created first', async (server) => {
  const url = await newDatabase(server)
  const store = await openKeeping(url, 1e9)
  await store.createPlant({ id: 1n, name: 'first' })
  await using other = await beginOther(url, `INSERT INTO plants (id, name) VALUES (5, 'other')`)

  // In one commit they would leave nothing.
  const ends = Promise.allSettled([
    store.createPlant({ id: 5n, name: 'own' }),
    store.deletePlant(5n),
  ])
  // Too short to commit them separately.
  await Bun.sleep(30)
  await other.run('COMMIT')

  const [creation, removed] = await ends
  expect(creation).toMatchObject({ status: 'rejected', reason: { error: 'taken' } })
  const changes = (await follow(store)).filter(({ id }) => id === 5n)
  if (removed.status === 'fulfilled') {
    expect(changes).toMatchObject([{ action: 'delete', before: { name: 'other' } }])
  } else {
    // On a busy machine, before the other process committed.
    expect(removed.reason).toMatchObject({ error: 'no such plant' })
    expect(changes).toEqual([])
  }
  await store.close()
})

test('has no gap if a process enables it while others write', async (server) => {
  const url = await newDatabase(server)
  const writer = await openKeeping(url, null)
  let isOver = false
  const writing = Array.from({ length: 8 }, async (_, seed) => {
    for (let step = 0; !isOver; step++) {
      const id = BigInt(seed * 1_000_000 + step)
      await writer.createPlant({ id, name: 'x' })
      if (step % 3 === 0) await writer.deletePlant(id)
    }
  })
  await Bun.sleep(200)
  const beginner = await openKeeping(url, 1e9)
  const { next } = (await beginner.changeLog?.read({ after: 'now', limit: 1 })) ?? {}
  const listed = await allPlants(beginner)
  await Bun.sleep(200)
  isOver = true
  await Promise.all(writing)

  const plants = new Map(listed.map((plant) => [plant.id, plant]))
  const entries = await follow(beginner, next)
  expect(entries.length).toBeGreaterThan(10)
  for (const { id, after } of entries) {
    if (after) plants.set(id, { id, ...after })
    else plants.delete(id)
  }
  expect([...plants.values()].sort((a, b) => (a.id < b.id ? -1 : 1))).toEqual(
    await allPlants(writer),
  )
  expect(writer.changeLog).toBeDefined()
  await beginner.close()
  await writer.close()
})

test('expires cursors after a gap or a new change log', async (server) => {
  const url = await newDatabase(server)
  const store = await openKeeping(url, 1e9)
  await store.createPlants(range(1, 3))
  await using sql = new SQL({ url, max: 1, bigint: true })
  // Runs between the two reads of one page.
  let between = async (): Promise<unknown> => null
  let reads = 0
  const queries = changeLogQueries(async (ask) => {
    if (reads++ === 1) await between()
    return ask(sql)
  })
  const changeLog = createChangeLogReader(queries)
  const read = async (after: string | undefined) => {
    reads = 0
    return changeLog.read({ limit: 9, ...(after === undefined ? {} : { after }) })
  }
  const { entries } = await read(undefined)
  const [first, , third] = entries.map(({ cursor }) => cursor)
  expect(entries).toHaveLength(3)

  between = () => sql`DELETE FROM changes WHERE number = 2`
  await expect(read(first)).rejects.toHaveProperty('error', 'cursor expired')
  between = async () => {
    await (await openKeeping(url, 'off')).close()
    await store.deletePlant(1n)
    await (await openKeeping(url, 1e9)).close()
    await store.deletePlant(2n)
  }
  expect(await read(third)).toEqual({ entries: [], next: third ?? '' })
  await expect(read(third)).rejects.toHaveProperty('error', 'cursor expired')
  await store.close()
})

test('is used by a process that starts while another enables it', async (server) => {
  const url = await newDatabase(server)
  await (await openKeeping(url, null)).close()
  const enabling = `UPDATE change_log SET log = '0123456789abcdef', keep_ms = 1000000000`
  await using other = await beginOther(url, enabling)

  const opening = openKeeping(url, null)
  await untilLockWaits(server.query)
  await other.run('COMMIT')

  const store = await opening
  await store.createPlant({ id: 1n, name: 'Rose' })
  expect(store.changeLog).toBeDefined()
  expect(await follow(store)).toHaveLength(1)
  await store.close()
})

test('can be enabled and disabled by another process without a lost connection', async (server) => {
  const url = await newDatabase(server)
  const events: Logged[] = []
  const store = await openAt(url, events)
  await store.createPlant({ id: 1n, name: 'one' })
  await (await openKeeping(url, 1e9)).close()
  await store.createPlant({ id: 2n, name: 'two' })
  expect(await follow(store)).toMatchObject([{ id: 2n }])
  expect(events).toEqual([])

  await (await openKeeping(url, 'off')).close()
  await store.createPlant({ id: 3n, name: 'three' })
  expect(store.changeLog).toBeUndefined()
  expect(events).toMatchObject([{ event: 'changes-ended' }])
  await store.close()
})

test('ends only with "off", which logs the number of removed entries', async (server) => {
  const url = await newDatabase(server)
  const events: Logged[] = []
  const open = (keep: KeepChanges) => openAt(url, events, keep)
  const store = await open(1e9)
  await store.createPlants(range(1, 5))
  await store.close()
  const reopened = await open(null)
  expect(await follow(reopened)).toHaveLength(5)
  await reopened.close()
  expect(events).toEqual([])

  await (await open('off')).close()
  await (await open('off')).close()

  expect(events).toEqual([{ event: 'changes-ended', entries: 5 }])
})

test('is renamed on another server, whichever process writes there first', async (server) => {
  const url = await newDatabase(server)
  const store = await openKeeping(url, 1e9)
  await store.createPlants(range(1, 3))
  const { next = '' } = (await store.changeLog?.read({ limit: 9 })) ?? {}
  await store.close()
  await using sql = new SQL({ url, max: 1 })
  await sql`UPDATE change_log SET timeline = 'that of the server before'`

  const first = await openStore(url, commandUser({ makesDatabase: false }))
  await first.deletePlant(1n)

  await expect(first.changeLog?.read({ after: next, limit: 9 })).rejects.toHaveProperty(
    'error',
    'cursor expired',
  )
  await first.close()
})

test('reads few pages of its row, however many old versions a snapshot keeps', async (server) => {
  const url = await newDatabase(server)
  const store = await openKeeping(url, 1e9)
  await server.query('ALTER TABLE change_log SET (autovacuum_enabled = off)', url)
  await using _snapshot = await beginOther(
    url,
    'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; SELECT FROM change_log',
  )
  await server.query(
    `DO $$ BEGIN FOR step IN 1..20000 LOOP
         UPDATE change_log SET last = last + 1
         WHERE last >= (SELECT last FROM change_log ORDER BY last DESC LIMIT 1);
       END LOOP; END $$`,
    url,
  )
  let next = 1n
  const createAndRead = async (): Promise<void> => {
    await store.createPlant({ id: next++, name: 'x' })
    await store.changeLog?.read({ after: 'now', limit: 1 })
  }
  const pagesRead = async (): Promise<number> => {
    // A session reports its counts after a transaction, at most once a second.
    await Bun.sleep(1500)
    await createAndRead()
    await Bun.sleep(200)
    const [row] = await server.query(
      `SELECT heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read AS pages
         FROM pg_statio_user_tables WHERE relname = 'change_log'`,
      url,
    )
    return Number(row?.pages)
  }

  const before = await pagesRead()
  for (let times = 0; times < 99; times += 1) await createAndRead()

  // The old versions fill more than 100 pages.
  expect(((await pagesRead()) - before) / 100).toBeLessThan(50)
  await store.close()
})
