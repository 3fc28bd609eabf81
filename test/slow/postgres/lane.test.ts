// The fence of a lane: a step that was not committed before it never will be.

import { expect } from 'bun:test'
import type { SQL } from 'bun'
import type { Write } from '../../../src/engine/commit/write'
import { connect } from '../../../src/engine/postgres/connection/hosts'
import { commit } from '../../../src/engine/postgres/connection/statements'
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
import { onServers } from '../../harness/own-server'
import {
  beginOther,
  newDatabase,
  openAt,
  targetOf,
  untilLockWaits,
} from '../../harness/postgres-store'

/** Pages of the lanes and their index read so far. Flushes the counts of these sessions first. */
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

/** A lane with two connections, like a writer that has lost the first one. */
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
    url,
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

const test = onServers('the fence of %s')

test('prevents every step that was not committed before it', async (server) => {
  await using fixture = await openLane(server)
  await fixture.create(1, 1)

  // Step 2 was sent, but has not arrived.
  const top = { lane: fixture.lane, seq: 2 }
  const fenced = await fence(fixture.current.sql, top)

  expect(fenced?.lastStep).toBe(1)
  // Repeated, as if the answer was lost.
  expect(await fence(fixture.current.sql, top)).toEqual(fenced)
  expect(await fixture.create(2, 2)).toBe('elsewhere')
  expect(await fixture.remove(1, 2)).toBe('elsewhere')
  expect(await fixture.store.readPlant(2n)).toBeNull()
  expect(await fixture.store.readPlant(1n)).toEqual({ id: 1n, name: 'Rose' })
  expect(await fixture.create(3, 4)).toEqual({ refusedIds: '' })
})

test('finds the last committed step and its refusals, and the same when repeated', async (server) => {
  await using fixture = await openLane(server)
  await fixture.create(1, 1)
  await fixture.create(1, 2)
  const top = { lane: fixture.lane, seq: 2 }

  const fenced = await fence(fixture.current.sql, top)

  expect(fenced).toEqual({ lastStep: 2, refusedIds: '1', hasChangeLog: false })
  expect(await fence(fixture.current.sql, top)).toEqual(fenced)
})

test('finds a step that was in progress', async (server) => {
  await using fixture = await openLane(server)
  const laneStep = { lane: fixture.lane, seq: 1, hasChangeLog: false }
  await beginStep(fixture.old.sql, laneStep, [])

  const fencing = fence(fixture.current.sql, laneStep)
  await untilLockWaits(server.query)
  await commit(fixture.old.sql, [])

  expect((await fencing)?.lastStep).toBe(1)
})

test('works for a lane of more than 2^31 steps', async (server) => {
  await using fixture = await openLane(server)
  const seq = 2 ** 40
  expect(await fence(fixture.current.sql, { lane: fixture.lane, seq })).toMatchObject({
    lastStep: 0,
  })

  expect(await fixture.create(1, seq + 2)).toEqual({ refusedIds: '' })
  expect(await fixture.remove(1, seq + 3)).toEqual({ refusedIds: '' })
  const fenced = await fence(fixture.current.sql, { lane: fixture.lane, seq: seq + 5 })
  expect(fenced?.lastStep).toBe(seq + 3)
})

test('reads few pages, however many old versions of the row a snapshot keeps', async (server) => {
  await using fixture = await openLane(server)
  const { old, current, lane } = fixture
  // The store's own looks, and autovacuum, read the table too.
  await fixture.store.close()
  await current.sql.unsafe('ALTER TABLE lanes SET (autovacuum_enabled = off)')
  // The session keeps the plans for a small table.
  await current.sql.unsafe('VACUUM ANALYZE lanes')
  for (let seq = 1; seq <= 20; seq += 2) {
    await fixture.create(1, seq)
    await fixture.remove(1, seq + 1)
  }
  // It keeps every version of each row since its begin, like pg_dump.
  await using snapshot = await beginOther(
    fixture.url,
    'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; SELECT FROM lanes',
  )
  for (let seq = 21; seq <= 3020; seq += 1) await fixture.create(1, seq)
  const reads: Record<string, () => Promise<unknown>> = {
    create: () => fixture.create(1, 3021),
    remove: () => fixture.remove(1, 3022),
    sequence: () => sequenceOf(old.sql, lane),
    fence: () => fence(old.sql, { lane, seq: 3023 }),
    leave: () => removeLane(old.sql, lane),
  }
  for (const [name, read] of Object.entries(reads)) {
    const before = await pagesRead(old.sql, current.sql)
    await read()
    const pages = (await pagesRead(old.sql, current.sql)) - before
    // The old versions fill more than 40 pages.
    expect({ name, isFew: pages < 20, pages }).toMatchObject({ name, isFew: true })
  }
  expect(await snapshot.run('SELECT FROM lanes')).not.toHaveLength(0)
  expect(await sequenceOf(old.sql, lane)).toBeNull()
})

test('prevents a step that missed the begin or end of the change log', async (server) => {
  await using fixture = await openLane(server)
  const create = stepOf([createOf(1)])
  const remove = stepOf([deleteOf(1)])
  const laneStep = { lane: fixture.lane, seq: 1 }
  const { sql } = fixture.current

  for (const step of [create, remove]) {
    expect(await step.send(sql, { ...laneStep, hasChangeLog: true })).toBe('elsewhere')
  }
  await keepChanges(sql, 1000)
  for (const step of [create, remove]) {
    expect(await step.send(sql, { ...laneStep, hasChangeLog: false })).toBe('elsewhere')
  }
  expect(await fixture.store.readPlant(1n)).toBeNull()
  expect(await create.send(sql, { ...laneStep, hasChangeLog: true })).toMatchObject({
    refusedIds: '',
  })
  expect((await makeLane(sql)).hasChangeLog).toBeTrue()
  await keepChanges(sql, 'off')
  expect((await makeLane(sql)).hasChangeLog).toBeFalse()
})
