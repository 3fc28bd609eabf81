// The fence of a lane: a step that was not made before it never will be.

import { expect, setDefaultTimeout, test } from 'bun:test'
import type { SQL } from 'bun'
import type { Write } from '../../../src/engine/commit/write'
import { connect } from '../../../src/engine/postgres/connecting/hosts'
import { commit } from '../../../src/engine/postgres/connecting/statements'
import type { PostgresTarget } from '../../../src/engine/postgres/connecting/url'
import { keepChanges } from '../../../src/engine/postgres/lane/change-log-row'
import {
  beginStep,
  fence,
  makeLane,
  removeLane,
  sequenceOf,
} from '../../../src/engine/postgres/lane/lane-row'
import { stepOf } from '../../../src/engine/postgres/sql/apply-writes'
import type { PostgresServer } from '../../../tools/postgres/server'
import { PATIENCE_MS } from '../../harness/daemon'
import { describeServers } from '../../harness/own-server'
import { newDatabase, openAt, targetOf } from '../../harness/postgres-store'
import { until } from '../../harness/until'

setDefaultTimeout(PATIENCE_MS)

/** Pages of the lanes and their index read by these sessions, which otherwise report them up to a second later. */
async function pagesRead(...sessions: readonly [SQL, ...SQL[]]): Promise<number> {
  for (const sql of sessions) await sql.unsafe('SELECT pg_stat_force_next_flush()')
  const [row] = await sessions[0].unsafe<{ pages: bigint }[]>(
    `SELECT heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read AS pages
     FROM pg_statio_user_tables WHERE relname = 'lanes'`,
  )
  return Number(row?.pages)
}

const createOf = (id: number): Write => ({ kind: 'create', row: [id, 'Rose', null], origin: null })
const deleteOf = (id: number): Write => ({ kind: 'delete', id, precondition: null, origin: null })

/** A lane with two connections, as of a writer that has lost the first one. */
async function openLane(server: PostgresServer) {
  const url = await newDatabase(server)
  const store = await openAt(url)
  const target = targetOf(url)
  const old = await connect(target)
  const current = await connect(target)
  const { lane, hasChangeLog } = await makeLane(old.sql)
  return {
    store,
    old,
    current,
    target,
    lane,
    create: (id: number, seq: number) =>
      stepOf([createOf(id)]).send(old.sql, { lane, seq, hasChangeLog }),
    remove: (id: number, seq: number) =>
      stepOf([deleteOf(id)]).send(old.sql, { lane, seq, hasChangeLog }),
    async [Symbol.asyncDispose]() {
      await old.close()
      await current.close()
      await store.close()
    },
  }
}

/** A transaction that keeps every version of each row from its begin on, as pg_dump does. */
async function openSnapshot(target: PostgresTarget) {
  const { sql, close } = await connect(target)
  await sql.unsafe('BEGIN ISOLATION LEVEL REPEATABLE READ')
  const [row] = await sql.unsafe<{ lanes: bigint }[]>('SELECT count(*) AS lanes FROM lanes')
  return { lanes: row?.lanes, [Symbol.asyncDispose]: close }
}

describeServers('the fence of %s', (started) => {
  test('keeps every step from being made later that was not made before it', async () => {
    await using it = await openLane(await started())
    await it.create(1, 1)

    // Step 2 was sent, and has not arrived.
    const top = { lane: it.lane, seq: 2 }
    const found = await fence(it.current.sql, top)

    expect(found?.made).toBe(1)
    // As if its answer was lost.
    expect(await fence(it.current.sql, top)).toEqual(found)
    expect(await it.create(2, 2)).toBe('elsewhere')
    expect(await it.remove(1, 2)).toBe('elsewhere')
    expect(await it.store.readPlant(2n)).toBeNull()
    expect(await it.store.readPlant(1n)).toEqual({ id: 1n, name: 'Rose' })
    expect(await it.create(3, 4)).toEqual({ refused: '' })
  })

  test('finds the last step that was made, with its refusals, and the same when it is sent again', async () => {
    await using it = await openLane(await started())
    await it.create(1, 1)
    await it.create(1, 2)
    const top = { lane: it.lane, seq: 2 }

    const found = await fence(it.current.sql, top)

    expect(found).toEqual({ made: 2, refused: '1', hasChangeLog: false })
    expect(await fence(it.current.sql, top)).toEqual(found)
  })

  test('finds a step that was under way when it came', async () => {
    const server = await started()
    await using it = await openLane(server)
    const at = { lane: it.lane, seq: 1, hasChangeLog: false }
    await beginStep(it.old.sql, at, [])

    const finding = fence(it.current.sql, at)
    const waits = () => server.query('SELECT FROM pg_locks WHERE NOT granted')
    await until('a waiting lock', async () => (await waits()).length)
    await commit(it.old.sql, [])

    expect((await finding)?.made).toBe(1)
  })

  test('works for a lane of more than 2^31 steps', async () => {
    const server = await started()
    await using it = await openLane(server)
    const seq = 2 ** 40
    expect(await fence(it.current.sql, { lane: it.lane, seq })).toMatchObject({ made: 0 })

    expect(await it.create(1, seq + 2)).toEqual({ refused: '' })
    expect(await it.remove(1, seq + 3)).toEqual({ refused: '' })
    const found = await fence(it.current.sql, { lane: it.lane, seq: seq + 5 })
    expect(found?.made).toBe(seq + 3)
  })

  test('reads no more of a lane for all the versions of its row that a snapshot keeps', async () => {
    await using it = await openLane(await started())
    const { old, current, lane } = it
    // The store's own looks, and autovacuum, read the table too.
    await it.store.close()
    await current.sql.unsafe('ALTER TABLE lanes SET (autovacuum_enabled = off)')
    // The planner knows that the table is small, and the session keeps the plans that it makes of that.
    await current.sql.unsafe('VACUUM ANALYZE lanes')
    for (let seq = 1; seq <= 20; seq += 2) {
      await it.create(1, seq)
      await it.remove(1, seq + 1)
    }
    await using snapshot = await openSnapshot(it.target)
    for (let seq = 21; seq <= 3020; seq += 1) await it.create(1, seq)
    const reads: Record<string, () => Promise<unknown>> = {
      create: () => it.create(1, 3021),
      remove: () => it.remove(1, 3022),
      sequence: () => sequenceOf(old.sql, lane),
      fence: () => fence(old.sql, { lane, seq: 3023 }),
      leave: () => removeLane(old.sql, lane),
    }
    for (const [name, read] of Object.entries(reads)) {
      const before = await pagesRead(old.sql, current.sql)
      await read()
      const pages = (await pagesRead(old.sql, current.sql)) - before
      // The old versions have more than 40 pages.
      expect({ name, isFew: pages < 20, pages }).toMatchObject({ name, isFew: true })
    }
    expect(snapshot.lanes).toBeGreaterThan(0n)
    expect(await sequenceOf(old.sql, lane)).toBeNull()
  })

  test('keeps a step from being made that does not know that a change log is kept, or is not', async () => {
    await using it = await openLane(await started())
    const create = stepOf([createOf(1)])
    const remove = stepOf([deleteOf(1)])
    const at = { lane: it.lane, seq: 1 }
    const { sql } = it.current

    for (const step of [create, remove]) {
      expect(await step.send(sql, { ...at, hasChangeLog: true })).toBe('elsewhere')
    }
    await keepChanges(sql, 1000)
    for (const step of [create, remove]) {
      expect(await step.send(sql, { ...at, hasChangeLog: false })).toBe('elsewhere')
    }
    expect(await it.store.readPlant(1n)).toBeNull()
    expect(await create.send(sql, { ...at, hasChangeLog: true })).toMatchObject({ refused: '' })
    expect((await makeLane(sql)).hasChangeLog).toBeTrue()
    await keepChanges(sql, 'off')
    expect((await makeLane(sql)).hasChangeLog).toBeFalse()
  })
})
