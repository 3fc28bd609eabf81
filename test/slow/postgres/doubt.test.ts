// Commits whose answer is lost: no client is answered before their fate is known.
import { expect } from 'bun:test'
import type { KeepChanges } from '../../../src/change-log/change-log'
import { messageOf } from '../../../src/errors'
import { InDoubtError } from '../../../src/request-errors'
import type { Store } from '../../../src/store'
import type { PostgresServer } from '../../../tools/postgres/server'
import { follow, replay } from '../../engine/change-log-contract'
import { turns } from '../../harness/ledger'
import { onServers } from '../../harness/own-server'
import {
  alterSystem,
  errorOf,
  type Logged,
  openAt,
  openCuttable,
} from '../../harness/postgres-store'
import { allPlants, range } from '../../harness/tested-store'
import { until } from '../../harness/until'

/** A store whose connections the test can cut, and another that is never cut. */
async function openBoth(server: PostgresServer, keep: KeepChanges) {
  const cuttable = await openCuttable(server, keep)
  const { store, url } = cuttable
  const other = await openAt(url)
  // Prepares the statements of the first commit.
  await store.createPlants([
    { id: 2n, name: 'two', tag: 'x' },
    { id: 3n, name: 'three' },
  ])
  await store.createPlant({ id: 4n, name: 'four' })
  return {
    ...cuttable,
    other,
    async [Symbol.asyncDispose]() {
      if (keep !== null && other.stats().problem === null)
        expect(replay(await follow(other))).toEqual(await allPlants(other))
      await cuttable[Symbol.asyncDispose]()
      await other.close()
    },
  }
}

type Change = (store: Store) => Promise<unknown>[]

const CREATES: Change = (store) => [
  store.createPlant({ id: 2n, name: 'two', tag: 'x' }),
  store.createPlant({ id: 3n, name: 'another' }),
  store.createPlant({ id: 9n, name: 'nine' }),
]
const MIXED: Change = (store) => [
  store.patchPlant(1n, { tag: 'new' }),
  store.deletePlant(2n),
  store.deletePlant(2n),
  store.createPlants(range(10, 3)),
  store.replacePlant({ id: 77n, name: 'nobody' }),
  store.createPlant({ id: 3n, name: 'three' }),
  store.putPlants([
    { id: 4n, name: 'four' },
    { id: 3n, name: 'other' },
    { id: 20n, name: 'new' },
  ]),
  store.putPlants([{ id: 20n, name: 'new' }]),
  store.deletePlants([
    { id: 20n, name: 'new' },
    { id: 4n, name: 'other' },
  ]),
]

/** The result of each change: its value, or the name of its error. */
const endsOf = async (changes: readonly Promise<unknown>[]) =>
  (await Promise.allSettled(changes)).map((result) =>
    result.status === 'fulfilled' ? (result.value ?? null) : result.reason.error,
  )

const COUNTS = [
  { created: 1, replaced: 1, unchanged: 1 },
  { created: 0, replaced: 0, unchanged: 1 },
  { deleted: 1, conflicts: [4n], missing: [] },
]
const EXPECTED = {
  creates: ['stored already', 'taken', null],
  mixed: [
    { id: 1n, name: 'one', tag: 'new' },
    null,
    'no such plant',
    null,
    'no such plant',
    'stored already',
    ...COUNTS,
  ],
}

/** The fates of the commits in doubt: true for each that was made. */
const settledIn = (events: readonly Logged[]) =>
  events.filter(({ event }) => event === 'commit-settled').map(({ made }) => made)

/** The cursor of the end of a store's change log, if it has one. */
const endOf = async ({ changeLog }: Store) =>
  (await changeLog?.read({ after: 'now', limit: 1 }))?.next

/** Expects a new change log: no client may follow from lost commits. */
async function expectNewChangeLog({ changeLog }: Store, after = ''): Promise<void> {
  await expect(changeLog?.read({ after, limit: 1 })).rejects.toHaveProperty(
    'error',
    'cursor expired',
  )
}

const WITH = [
  ['with a change log', 1e9],
  ['without one', null],
] as const

const testLost = onServers('a lost answer of %s')

/** Adds a test with a change log, and without one. */
const test = (title: string, body: (server: PostgresServer, keep: KeepChanges) => Promise<void>) =>
  testLost.each(WITH)(`${title}, %s`, (server, _, keep) => body(server, keep))

/** Adds such tests for each row of a table. */
const testEach =
  <const T extends readonly unknown[]>(rows: readonly T[]) =>
  (
    title: string,
    body: (server: PostgresServer, keep: KeepChanges, ...row: [...T]) => Promise<void>,
  ): void => {
    for (const [log, keep] of WITH)
      testLost.each(rows)(`${title}, ${log}`, (server, ...row) => body(server, keep, ...row))
  }

testEach([
  ['creates', CREATES, EXPECTED.creates, 'answers', 'UPDATE', true],
  ['creates', CREATES, EXPECTED.creates, 'requests', '', false],
  ['changes of all kinds', MIXED, EXPECTED.mixed, 'answers', 'COMMIT', true],
  ['changes of all kinds', MIXED, EXPECTED.mixed, 'answers', 'BEGIN', false],
  ['changes of all kinds', MIXED, EXPECTED.mixed, 'requests', '', false],
] as const)('ends %s as if it had arrived', async (server, keep, ...row) => {
  const [, changes, ends, way, word, isMade] = row
  await using fixture = await openBoth(server, keep)
  fixture.proxy.hold(way, word)

  const endings = endsOf(changes(fixture.store))
  await fixture.proxy.untilHeld()
  fixture.proxy.cut()

  expect(await endings).toEqual([...ends])
  expect(await allPlants(fixture.store)).toEqual(await allPlants(fixture.other))
  expect(settledIn(fixture.events)).toEqual([isMade])
})

test('is settled before later changes are sent', async (server, keep) => {
  await using fixture = await openBoth(server, keep)
  fixture.proxy.hold('answers', 'UPDATE')
  const inDoubt = endsOf([fixture.store.createPlant({ id: 30n, name: 'new' })])
  await fixture.proxy.untilHeld()

  const laterChanges = endsOf([
    fixture.store.createPlant({ id: 30n, name: 'other' }),
    fixture.store.createPlant({ id: 31n, name: 'new' }),
  ])
  fixture.proxy.cut()

  expect(await inDoubt).toEqual([null])
  expect(await laterChanges).toEqual(['taken', null])
  expect(settledIn(fixture.events)).toEqual([true])
})

test('keeps the order of later changes if the server refuses one', async (server, keep) => {
  await using fixture = await openBoth(server, keep)
  await fixture.query(
    `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
       $$ BEGIN RAISE 'no weeds' USING ERRCODE = '23514'; END $$;
       CREATE TRIGGER no_weed BEFORE INSERT ON plants FOR EACH ROW WHEN (new.name = 'Weed')
       EXECUTE FUNCTION refuse()`,
  )

  const waves: Promise<unknown>[] = []
  for (const plant of [
    { id: 40n, name: 'first' },
    { id: 41n, name: 'Weed' },
    { id: 42n, name: 'mine' },
    { id: 42n, name: 'too late' },
  ]) {
    waves.push(fixture.store.createPlant(plant))
    await turns()
  }

  expect(await endsOf(waves)).toEqual([null, 'unexpected', null, 'taken'])
  expect(settledIn(fixture.events)).toEqual([])
  expect(fixture.store.stats().server?.lostCommits).toBe(0)
})

test('reports a committed batch as committed, with the refusal of each plant', async (server, keep) => {
  await using fixture = await openBoth(server, keep)
  fixture.proxy.hold('answers', 'UPDATE')

  const endings = endsOf(CREATES(fixture.store))
  await fixture.proxy.untilHeld()
  // The commit was made; others change the plant before that is known.
  await until('the plant', () => fixture.other.readPlant(9n))
  await fixture.other.deletePlant(9n)
  await fixture.other.deletePlant(3n)
  fixture.proxy.cut()

  // The plant that refused the create is gone.
  expect(await endings).toEqual(['stored already', 'busy', null])
  expect(await fixture.other.readPlant(9n)).toBeNull()
  expect(await fixture.other.readPlant(3n)).toBeNull()
})

test('prevents a late commit once it counts as not committed', async (server, keep) => {
  await using fixture = await openBoth(server, keep)
  const [backend] = await fixture.query(
    `SELECT pid FROM pg_stat_activity
       WHERE datname = current_database() AND query LIKE '%lanes%' AND client_port IN
         (SELECT client_port FROM pg_stat_activity WHERE application_name LIKE 'plantstore@%')
       ORDER BY query_start DESC LIMIT 1`,
  )
  process.kill(Number(backend.pid), 'SIGSTOP')
  try {
    const endings = endsOf([fixture.store.createPlant({ id: 9n, name: 'nine' })])
    await Bun.sleep(200)
    // The server has received the statement, but its backend is stopped.
    fixture.proxy.silence()
    fixture.proxy.cut()
    expect(await endings).toEqual([null])
    await fixture.store.deletePlant(9n)
  } finally {
    process.kill(Number(backend.pid), 'SIGCONT')
  }

  await Bun.sleep(300)
  expect(await fixture.other.readPlant(9n)).toBeNull()
  expect(settledIn(fixture.events)).toEqual([false])
})

test('repeats a change whose transaction the server has aborted', async (server, keep) => {
  await using fixture = await openBoth(server, keep)
  await fixture.store.patchPlant(1n, { name: 'first' })
  fixture.proxy.hold('answers', 'BEGIN')

  const endings = endsOf([fixture.store.patchPlant(1n, { tag: 'new' })])
  await fixture.proxy.untilHeld()
  // The row is locked until the server drops the silent connection.
  await until('the lock to end', async () => {
    return (await errorOf(fixture.other.patchPlant(1n, { name: 'other' }))) === null
  })
  fixture.proxy.cut()

  expect(await endings).toEqual([{ id: 1n, name: 'other', tag: 'new' }])
})

test('reports commits that the server confirmed and lost', async (server, keep) => {
  await using fixture = await openBoth(server, keep)
  for (const plant of range(20, 5)) await fixture.store.createPlant(plant)
  const before = await endOf(fixture.store)
  await fixture.query('UPDATE lanes SET seq = seq - 3 WHERE seq > 3')

  fixture.proxy.cut()
  await fixture.store.createPlant({ id: 9n, name: 'nine' })

  expect(fixture.events).toContainEqual({ event: 'acknowledged-lost', commits: 3 })
  if (keep !== null) await expectNewChangeLog(fixture.other, before)
  expect(fixture.store.stats().server?.lostCommits).toBe(3)
})

test('renames the change log on another timeline of the server, and only there', async (server, keep) => {
  await using fixture = await openBoth(server, keep)
  if (keep === null) return
  const [before] = await fixture.query('SELECT timeline FROM change_log')
  expect(before?.timeline).toMatch(/^\d+-[0-9A-F]{8}$/)
  const cursor = await endOf(fixture.store)

  fixture.proxy.cut()
  await fixture.store.createPlant({ id: 9n, name: 'nine' })
  expect((await follow(fixture.other, cursor)).map(({ id }) => id)).toEqual([9n])
  await fixture.query(`UPDATE change_log SET timeline = '1-00000000'`)
  fixture.proxy.cut()
  await fixture.store.deletePlant(9n)

  await expectNewChangeLog(fixture.other, cursor)
  expect(await fixture.query('SELECT timeline FROM change_log')).toEqual([before])
})

test('continues in a new lane if the old one is gone, and reports no lost commits', async (server, keep) => {
  await using fixture = await openBoth(server, keep)
  const before = await endOf(fixture.store)
  await fixture.query('DELETE FROM lanes')

  await fixture.store.createPlant({ id: 9n, name: 'nine' })
  if (keep !== null) await expectNewChangeLog(fixture.other, before)
  await fixture.store.deletePlant(9n)

  expect(fixture.events.map(({ event }) => event)).toContain('lane-gone')
  expect(fixture.events.map(({ event }) => event)).not.toContain('acknowledged-lost')
  expect(fixture.store.stats().server?.lostCommits).toBe(0)

  expect(await fixture.other.readPlant(9n)).toBeNull()
})

testEach([
  ['creates', CREATES, 'UPDATE'],
  ['changes of all kinds', MIXED, 'COMMIT'],
] as const)(
  'leaves %s without an answer if the lane is gone, since their fate is unknown',
  async (server, keep, ...row) => {
    const [, changes, word] = row
    await using fixture = await openBoth(server, keep)
    fixture.proxy.hold('answers', word)

    const endings = Promise.allSettled(changes(fixture.store))
    await fixture.proxy.untilHeld()
    await fixture.query('TRUNCATE lanes')
    fixture.proxy.cut()

    for (const ending of await endings) {
      expect(ending).toMatchObject({ status: 'rejected', reason: expect.any(InDoubtError) })
    }
    expect(fixture.events).toContainEqual({ event: 'lane-gone', detail: expect.any(String) })
    expect(settledIn(fixture.events)).toEqual([])
    // Later changes work as usual.
    await fixture.store.createPlant({ id: 50n, name: 'fifty' })
    expect(await allPlants(fixture.store)).toEqual(await allPlants(fixture.other))
  },
)

test('waits for the standby, whatever the settings of the database', async (server, keep) => {
  const setStandby = (name: string) =>
    alterSystem(server, `SET synchronous_standby_names = '${name}'`)
  try {
    await using fixture = await openBoth(server, keep)
    await fixture.query(
      `DO $$ BEGIN EXECUTE format(
           'ALTER DATABASE %I SET statement_timeout = ''200ms'';
            ALTER DATABASE %1$I SET synchronous_commit = off', current_database()
         ); END $$`,
    )
    fixture.proxy.cut()
    await fixture.store.deletePlant(4n)
    await setStandby('nobody')
    await Bun.sleep(200)
    let isAnswered = false
    const creating = fixture.store.createPlant({ id: 9n, name: 'nine' }).then(() => {
      isAnswered = true
    })

    await Bun.sleep(1500)
    expect(isAnswered).toBeFalse()
    await setStandby('')
    await creating
  } finally {
    await setStandby('')
  }
})

test('refuses changes and reads while the server is away, and stores nothing later', async (server, keep) => {
  await using fixture = await openBoth(server, keep)
  await server.stop()
  const change = endsOf([fixture.store.createPlant({ id: 9n, name: 'nine' })])
  const read = endsOf([fixture.store.readPlant(1n)])

  expect(await read).toEqual(['storage failed'])
  expect(await fixture.store.countPlants().catch(messageOf)).toBe('cannot read from the database')
  expect(fixture.store.probe()).rejects.toHaveProperty('error', 'storage failed')
  expect(await change).toEqual(['storage failed'])
  expect(fixture.store.stats().problem).not.toBeNull()
  await server.start()

  await until('a writable store', () => fixture.store.stats().problem === null)
  await fixture.store.probe()
  expect(await fixture.store.readPlant(9n)).toBeNull()
  expect(fixture.store.stats().server).toEqual({ reconnects: 1, lostCommits: 0 })
  expect(fixture.events.map(({ event }) => event)).not.toContain('server-moved')
})
