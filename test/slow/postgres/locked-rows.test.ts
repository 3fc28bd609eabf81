// Plants whose rows another session keeps locked: only their writes are refused.

import { expect, setDefaultTimeout } from 'bun:test'
import { LOCK_MS } from '../../../src/engine/postgres/connection/settings'
import type { Plant } from '../../../src/plant/plant'
import type { ErrorName } from '../../../src/request-errors'
import type { Store } from '../../../src/store'
import type { PostgresServer } from '../../../tools/postgres/server'
import { startProxy } from '../../harness/cuttable'
import { PATIENCE_MS } from '../../harness/daemon'
import { onServers } from '../../harness/own-server'
import {
  atPort,
  beginOther,
  errorOf,
  type Logged,
  newDatabase,
  openAt,
} from '../../harness/postgres-store'
import { allPlants, range } from '../../harness/tested-store'
import { until } from '../../harness/until'

setDefaultTimeout(2 * PATIENCE_MS)

const CLIENTS = 16
const LOCKED_FOR_MS = 2000
const RETRIED_EVERY_MS = 20
const FIRST_FREE = 1_000_000
// A look at the server begins every 2 s, and gives up a connection that is silent for 4.5 s.
const LOOK_ENDS_WITHIN_MS = 5000

/** A store with plants 1 to 50, and a session of another program in a transaction. */
async function openBeside(
  server: PostgresServer,
  keepMs: number | null = null,
  port = server.port,
) {
  const url = await newDatabase(server)
  const events: Logged[] = []
  const store = await openAt(`${atPort(url, port)}?connect_timeout=1`, events, keepMs)
  await store.createPlants(range(1, 50))
  const other = await beginOther(url, '')
  return {
    store,
    events,
    lock: other.run,
    release: () => other.run('ROLLBACK'),
    /** Waits this long for the lock of the table, in a third session. */
    async waitForTable(milliseconds: number) {
      const query = `SET lock_timeout = ${milliseconds}; SELECT FROM plants`
      expect(String(await server.query(query, url).catch((error) => error))).toContain(
        'lock timeout',
      )
    },
    async [Symbol.asyncDispose]() {
      await other[Symbol.asyncDispose]()
      await store.close()
    },
  }
}

/**
 * Creates plants by several clients until `isOver`: the ids so far, and, once it has ended, the longest wait by `clock`.
 */
function createOthers(store: Store, isOver: () => boolean, clock: () => number) {
  let next = FIRST_FREE
  let longest = 0
  const storedIds: number[] = []
  const client = async () => {
    while (!isOver()) {
      const id = next
      next += 1
      const startedAt = clock()
      await store.createPlant({ id: BigInt(id), name: 'other' })
      longest = Math.max(longest, clock() - startedAt)
      storedIds.push(id)
    }
  }
  const ended = Promise.all(Array.from({ length: CLIENTS }, client)).then(() => longest)
  return { storedIds, ended }
}

/**
 * Creates plants in a store beside locked rows, and in one with a database of its own. The creates of the second are
 * the clock of the first: on a busy machine, both are slow.
 */
function createBeside(locked: Store, free: Store, isOver: () => boolean) {
  const usual = createOthers(free, isOver, () => 0)
  const clock = () => usual.storedIds.length
  return { usual, others: createOthers(locked, isOver, clock), clock }
}

const overAfter = (milliseconds: number): (() => boolean) => {
  const end = performance.now() + milliseconds
  return () => performance.now() > end
}

/** A write of a plant, the statement that locks it, and the call. */
const CASES: readonly [string, string, (store: Store) => Promise<unknown>][] = [
  [
    'the replacement of a locked plant',
    'SELECT FROM plants WHERE id = 7 FOR UPDATE',
    (store) => store.replacePlant({ id: 7n, name: 'seven' }),
  ],
  [
    'the create of a plant that is being inserted',
    `INSERT INTO plants VALUES (77, 'x')`,
    (store) => store.createPlant({ id: 77n, name: 'seven' }),
  ],
  [
    'a batch of creates with plants that are being inserted',
    `INSERT INTO plants SELECT i, 'x' FROM generate_series(70, 90) i`,
    (store) => store.createPlants(range(60, 20)),
  ],
  [
    'a batch of puts with one locked plant',
    'SELECT FROM plants WHERE id = 7 FOR UPDATE',
    (store) => store.putPlants(range(1, 60)),
  ],
]

const test = onServers('a store in %s beside a session that locks rows')

test.each(CASES)('refuses only %s', async (server, _, lock, write) => {
  await using fixture = await openBeside(server, 1e9)
  await using free = await openBeside(server, 1e9)
  await fixture.lock(lock)
  const isOver = overAfter(LOCKED_FOR_MS)
  const { usual, others, clock } = createBeside(fixture.store, free.store, isOver)
  const errors: (ErrorName | null)[] = []
  const waits: number[] = []
  const retry = async () => {
    while (!isOver()) {
      const startedAt = clock()
      errors.push(await errorOf(write(fixture.store)))
      waits.push(clock() - startedAt)
      await Bun.sleep(RETRIED_EVERY_MS)
    }
  }

  await Promise.all([retry(), retry()])
  const longest = await others.ended
  await usual.ended

  expect(new Set(errors)).toEqual(new Set(['busy']))
  // 0.45 to 0.80, and 0.19 beside three busy loops; if each attempt were sent, 0.03 to 0.04.
  expect(others.storedIds.length).toBeGreaterThan(0.1 * clock())
  expect(Math.max(...waits, longest)).toBeLessThan(0.5 * clock())
  expect(fixture.events).toContainEqual({ event: 'plant-locked', id: expect.any(String) })
  await fixture.release()
  let ending: ErrorName | null = 'busy'
  await until('the write', async () => {
    ending = await errorOf(write(fixture.store))
    return ending !== 'busy'
  })
  expect([null, 'taken']).toContain(ending)
  const createdIds = new Set((await allPlants(fixture.store)).map(({ id }) => Number(id)))
  for (const id of others.storedIds) expect(createdIds.has(id)).toBeTrue()
})

test('writes an unlocked plant, and logs the change', async (server) => {
  await using fixture = await openBeside(server, 1e9)
  await fixture.lock(
    `SELECT FROM plants WHERE id = 7 FOR UPDATE; INSERT INTO plants VALUES (77, 'x')`,
  )
  const write = () =>
    Promise.all([
      errorOf(fixture.store.patchPlant(7n, { tag: 'rare' })),
      errorOf(fixture.store.createPlant({ id: 77n, name: 'new' })),
    ])

  const startedAt = performance.now()
  expect(await write()).toEqual(['busy', 'busy'])
  // At least one commit waited for 0.1 s.
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(95)
  await fixture.store.createPlant({ id: 78n, name: 'other' })
  await fixture.release()
  await until('both writes', async () => !(await write()).includes('busy'))

  const page = await fixture.store.changeLog?.read({ limit: 100 })
  const plants = page?.entries.map(({ id }) => Number(id)).slice(50)
  expect(plants?.[0]).toBe(78)
  expect(new Set(plants)).toEqual(new Set([78, 7, 77]))
  expect(await fixture.store.readPlant(77n)).toEqual({ id: 77n, name: 'new' })
})

test('keeps writing while hundreds of plants wait for an insert', async (server) => {
  await using fixture = await openBeside(server)
  await fixture.lock(`INSERT INTO plants SELECT i, 'x' FROM generate_series(1000, 1300) i`)
  const create = (plant: Plant) => errorOf(fixture.store.createPlant(plant))
  const startedAt = performance.now()
  expect(await create({ id: 1300n, name: 'x' })).toBe('busy')
  const waitedAt = performance.now()
  let areRefused = false
  const others = createOthers(fixture.store, () => areRefused, performance.now)

  const errors = await Promise.all(range(1000, 300).map(create))
  areRefused = true
  const allWaitsMs = performance.now() - waitedAt

  expect(new Set(errors)).toEqual(new Set(['busy']))
  // 23 to 39 waits of a first attempt: the next ones are brief. 300 if they were not.
  expect(allWaitsMs).toBeLessThan((waitedAt - startedAt) * 100)
  // None of them was refused.
  await others.ended
})

test('refuses all writes after one wait of 3 s if the table is locked', async (server) => {
  await using fixture = await openBeside(server)
  await fixture.lock('LOCK TABLE plants')
  let isLongerOver = false
  const longerWait = fixture.waitForTable(1.5 * LOCK_MS).then(() => {
    isLongerOver = true
  })
  const startedAt = performance.now()

  const errors = await Promise.all([
    errorOf(fixture.store.createPlant({ id: 100n, name: 'new' })),
    errorOf(fixture.store.createPlant({ id: 101n, name: 'new' })),
  ])

  expect(errors).toEqual(['busy', 'busy'])
  expect(isLongerOver).toBeFalse()
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(0.95 * LOCK_MS)
  await longerWait
  await Bun.sleep(LOOK_ENDS_WITHIN_MS)
  await fixture.release()
  await fixture.store.createPlant({ id: 100n, name: 'new' })
  const names = fixture.events.map(({ event }) => event)
  expect(names).not.toContain('disk-stalled')
  expect(names).not.toContain('server-lost')
})

test('is no lock of the table, even if the server was lost for seconds before', async (server) => {
  using proxy = startProxy(server.port)
  await using fixture = await openBeside(server, null, proxy.port)
  await fixture.lock('UPDATE plants SET tag = NULL WHERE id = 1')
  proxy.cut()
  proxy.hold('requests')

  const ending = errorOf(fixture.store.patchPlant(1n, { tag: 'x' }))
  await Bun.sleep(LOCK_MS + 500)
  proxy.release()

  expect(await ending).toBe('busy')
  const events = fixture.events.map(({ event }) => event)
  expect(events).toContain('plant-locked')
  expect(events).not.toContain('statement-refused')
  await fixture.release()
})
