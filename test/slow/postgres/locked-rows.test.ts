// Plants whose rows another session keeps locked: their writes are refused, all others go on.

import { expect, setDefaultTimeout, test } from 'bun:test'
import { SQL } from 'bun'
import type { ErrorName } from '../../../src/errors'
import type { Store } from '../../../src/store'
import type { PostgresServer } from '../../../tools/postgres/server'
import { PATIENCE_MS } from '../../harness/daemon'
import { describeServers } from '../../harness/own-server'
import { errorOf, type Logged, newDatabase, openAt } from '../../harness/postgres-store'
import { allPlants, range } from '../../harness/tested-store'
import { until } from '../../harness/until'

setDefaultTimeout(2 * PATIENCE_MS)

const CLIENTS = 16
const USUAL_MS = 1000
const LOCKED_FOR_MS = 2000
const RETRIED_EVERY_MS = 20
const FIRST_FREE = 1_000_000
// A look at the server begins every 2 s, and gives up a connection that is silent for 4.5 s.
const LOOK_ENDS_WITHIN_MS = 5000

/** A store with plants 1 to 50, and a session of another program in a transaction. */
async function openBeside(server: PostgresServer, keepMs: number | null = null) {
  const url = await newDatabase(server)
  const events: Logged[] = []
  const store = await openAt(url, events, keepMs)
  await store.createPlants(range(1, 50))
  const other = new SQL({ adapter: 'postgres', url, tls: 'disable', max: 1 })
  return {
    store,
    events,
    lock: (statement: string) => other.unsafe(`BEGIN; ${statement}`).simple(),
    release: () => other.unsafe('ROLLBACK').simple(),
    async [Symbol.asyncDispose]() {
      await other.close({ timeout: 0 })
      await store.close()
    },
  }
}

/** Creates plants by several clients until `isOver`. Resolves to the ids that were stored, and the longest wait. */
async function createOthers(store: Store, from: number, isOver: () => boolean) {
  let next = from
  let longestMs = 0
  const stored: number[] = []
  const client = async () => {
    while (!isOver()) {
      const id = next
      next += 1
      const startedAt = performance.now()
      await store.createPlant({ id: BigInt(id), name: 'other' })
      longestMs = Math.max(longestMs, performance.now() - startedAt)
      stored.push(id)
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, client))
  return { stored, longestMs }
}

const after = (milliseconds: number): (() => boolean) => {
  const end = performance.now() + milliseconds
  return () => performance.now() > end
}

type Others = Awaited<ReturnType<typeof createOthers>>

/** The rate of creates beside a locked row, as a share of the usual one. */
const shareOf = (usual: Others, locked: Others): number =>
  locked.stored.length / LOCKED_FOR_MS / (usual.stored.length / USUAL_MS)

/** The statement that locks a plant, and the write of it. */
const cases: readonly [string, string, (store: Store) => Promise<unknown>][] = [
  [
    'a plant that is locked, replaced',
    'SELECT FROM plants WHERE id = 7 FOR UPDATE',
    (store) => store.replacePlant({ id: 7n, name: 'seven' }),
  ],
  [
    'a plant that is being changed, created',
    `UPDATE plants SET name = 'x' WHERE id = 7`,
    (store) => store.createPlant({ id: 7n, name: 'seven' }),
  ],
  [
    'a plant that is being removed, deleted',
    'DELETE FROM plants WHERE id = 7',
    (store) => store.deletePlant(7n),
  ],
  [
    'a plant that is being inserted, created',
    `INSERT INTO plants VALUES (77, 'x')`,
    (store) => store.createPlant({ id: 77n, name: 'seven' }),
  ],
  [
    'plants that are being inserted, created together with others',
    `INSERT INTO plants SELECT i, 'x' FROM generate_series(70, 90) i`,
    (store) => store.createPlants(range(60, 20)),
  ],
  [
    'plants of which one is locked, put together',
    'SELECT FROM plants WHERE id = 7 FOR UPDATE',
    (store) => store.putPlants(range(1, 60)),
  ],
]

/** Milliseconds lost to timeouts of locks, as the metric has them. */
const lostBy = (store: Store): number => store.stats().server?.lockTimeoutMs ?? -1

describeServers('rows that another session locks in %s:', (started) => {
  test.each(cases)('%s, are busy, and no other', async (_, lock, write) => {
    await using it = await openBeside(await started(), 1e9)
    const usual = await createOthers(it.store, FIRST_FREE, after(USUAL_MS))
    await it.lock(lock)
    const isOver = after(LOCKED_FOR_MS)
    const errors: (ErrorName | null)[] = []
    const waits: number[] = []
    const retry = async () => {
      while (!isOver()) {
        const startedAt = performance.now()
        errors.push(await errorOf(write(it.store)))
        waits.push(performance.now() - startedAt)
        await Bun.sleep(RETRIED_EVERY_MS)
      }
    }

    const [others] = await Promise.all([
      createOthers(it.store, 2 * FIRST_FREE, isOver),
      retry(),
      retry(),
    ])

    expect(new Set(errors)).toEqual(new Set(['busy']))
    expect(Math.max(...waits)).toBeLessThan(2500)
    // 0.78 to 1.00 on a quiet machine; if each attempt were sent, 0.06 at most.
    expect(shareOf(usual, others)).toBeGreaterThan(0.2)
    expect(others.longestMs).toBeLessThan(2500)
    expect(it.events).toContainEqual({ event: 'plant-locked', id: expect.any(String) })
    await it.release()
    let ended: ErrorName | null = 'busy'
    await until('the write', async () => {
      ended = await errorOf(write(it.store))
      return ended !== 'busy'
    })
    expect([null, 'taken']).toContain(ended)
    const created = new Set((await allPlants(it.store)).map(({ id }) => Number(id)))
    for (const id of [...usual.stored, ...others.stored]) expect(created.has(id)).toBeTrue()
  })

  test('a plant that was unlocked, is written, and in the change log', async () => {
    await using it = await openBeside(await started(), 1e9)
    expect(lostBy(it.store)).toBe(0)
    await it.lock(`SELECT FROM plants WHERE id = 7 FOR UPDATE; INSERT INTO plants VALUES (77, 'x')`)
    const write = () =>
      Promise.all([
        errorOf(it.store.patchPlant(7n, { tag: 'rare' })),
        errorOf(it.store.createPlant({ id: 77n, name: 'new' })),
      ])

    expect(await write()).toEqual(['busy', 'busy'])
    await it.store.createPlant({ id: 78n, name: 'other' })
    await it.release()
    await until('both writes', async () => !(await write()).includes('busy'))

    // At least one commit waited for 0.1 s.
    const lostMs = lostBy(it.store)
    expect(lostMs).toBeGreaterThanOrEqual(95)
    const page = await it.store.changeLog?.read({ limit: 100 })
    const plants = page?.entries.map(({ id }) => Number(id)).slice(50)
    expect(plants?.[0]).toBe(78)
    expect(new Set(plants)).toEqual(new Set([78, 7, 77]))
    expect(await it.store.readPlant(77n)).toEqual({ id: 77n, name: 'new' })
    await it.store.createPlants(range(200, 50))
    expect(lostBy(it.store)).toBe(lostMs)
  })

  test('hundreds of plants that are being inserted, leave time for others', async () => {
    await using it = await openBeside(await started())
    await it.lock(`INSERT INTO plants SELECT i, 'x' FROM generate_series(1000, 1300) i`)
    const isOver = after(LOCKED_FOR_MS)

    const [others, ...errors] = await Promise.all([
      createOthers(it.store, 2 * FIRST_FREE, isOver),
      ...range(1000, 300).map((plant) => errorOf(it.store.createPlant(plant))),
    ])

    expect(new Set(errors)).toEqual(new Set(['busy']))
    expect(others.longestMs).toBeLessThan(10_000)
  })

  test('the table, are busy after the same time', async () => {
    await using it = await openBeside(await started())
    await it.lock('LOCK TABLE plants')
    const startedAt = performance.now()

    const errors = await Promise.all([
      errorOf(it.store.createPlant({ id: 100n, name: 'new' })),
      errorOf(it.store.createPlant({ id: 101n, name: 'new' })),
    ])

    expect(errors).toEqual(['busy', 'busy'])
    expect(performance.now() - startedAt).toBeLessThan(5000)
    expect(lostBy(it.store)).toBeGreaterThan(2900)
    expect(lostBy(it.store)).toBeLessThan(5000)
    await Bun.sleep(LOOK_ENDS_WITHIN_MS)
    await it.release()
    await it.store.createPlant({ id: 100n, name: 'new' })
    const names = it.events.map(({ event }) => event)
    expect(names).not.toContain('disk-stalled')
    expect(names).not.toContain('server-lost')
  })
})
