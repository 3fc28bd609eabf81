// Commits whose answer is lost: whether they were made, and that nobody is told before that is known.
import { expect, setDefaultTimeout, test } from 'bun:test'
import type { KeepChanges } from '../../../src/change-log/change-log'
import { messageOf } from '../../../src/errors'
import type { Store } from '../../../src/store'
import type { PostgresServer } from '../../../tools/postgres/server'
import { follow, replay } from '../../engine/change-log-contract'
import { startProxy } from '../../harness/cuttable'
import { PATIENCE_MS } from '../../harness/daemon'
import { turns } from '../../harness/ledger'
import { describeServers } from '../../harness/own-server'
import { errorOf, type Logged, newDatabase, openAt } from '../../harness/postgres-store'
import { allPlants, range } from '../../harness/tested-store'
import { until } from '../../harness/until'

setDefaultTimeout(PATIENCE_MS)

/** A store whose connections the test can cut, and one beside it that is never cut. */
async function openCuttable(server: PostgresServer, keep: KeepChanges) {
  const url = await newDatabase(server)
  const proxy = startProxy(server.port)
  const events: Logged[] = []
  const store = await openAt(url.replace(/:\d+\//, `:${proxy.port}/`), events, keep)
  const other = await openAt(url)
  // Once: tokens, pages and the first commit have their statements prepared.
  await store.createPlants([
    { id: 1n, name: 'one' },
    { id: 2n, name: 'two', tag: 'x' },
    { id: 3n, name: 'three' },
  ])
  await store.createPlant({ id: 4n, name: 'four' })
  return {
    store,
    other,
    proxy,
    events,
    query: (statement: string) => server.query(statement, url),
    async [Symbol.asyncDispose]() {
      if (keep !== null && other.stats().problem === null)
        expect(replay(await follow(other))).toEqual(await allPlants(other))
      await store.close()
      await other.close()
      proxy[Symbol.dispose]()
    },
  }
}

type Change = (store: Store) => Promise<unknown>[]

const creates: Change = (store) => [
  store.createPlant({ id: 2n, name: 'two', tag: 'x' }),
  store.createPlant({ id: 3n, name: 'another' }),
  store.createPlant({ id: 9n, name: 'nine' }),
]
const mixed: Change = (store) => [
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
  (await Promise.allSettled(changes)).map((it) =>
    it.status === 'fulfilled' ? (it.value ?? null) : it.reason.error,
  )

const counts = [
  { created: 1, replaced: 1, unchanged: 1 },
  { created: 0, replaced: 0, unchanged: 1 },
  { deleted: 1, changed: [4n], missing: [] },
]
const expected = {
  creates: ['stored already', 'taken', null],
  mixed: [
    { id: 1n, name: 'one', tag: 'new' },
    null,
    'no such plant',
    null,
    'no such plant',
    'stored already',
    ...counts,
  ],
}

/** The cursor of the end of a store's change log, if it has one. */
const endOf = async ({ changeLog }: Store) =>
  (await changeLog?.read({ after: 'now', limit: 1 }))?.next

/** Expects a change log to have begun anew, so that nobody follows from commits that are gone. */
async function expectNewChangeLog({ changeLog }: Store, after = ''): Promise<void> {
  await expect(changeLog?.read({ after, limit: 1 })).rejects.toHaveProperty(
    'error',
    'cursor expired',
  )
}

const lostAnswers = (keep: KeepChanges) => (started: () => Promise<PostgresServer>) => {
  test.each([
    ['creates', creates, expected.creates, 'answers', 'UPDATE', true],
    ['creates', creates, expected.creates, 'requests', '', false],
    ['changes of all kinds', mixed, expected.mixed, 'answers', 'COMMIT', true],
    ['changes of all kinds', mixed, expected.mixed, 'answers', 'BEGIN', false],
    ['changes of all kinds', mixed, expected.mixed, 'requests', '', false],
  ] as const)('leaves %s as they would have ended', async (...row) => {
    const [, changes, ends, way, word, isMade] = row
    await using it = await openCuttable(await started(), keep)
    it.proxy.hold(way, word)

    const ended = endsOf(changes(it.store))
    await it.proxy.untilHeld()
    it.proxy.cut()

    expect(await ended).toEqual([...ends])
    expect(await allPlants(it.store)).toEqual(await allPlants(it.other))
    expect(it.events.filter(({ event }) => event === 'commit-settled')).toHaveLength(1)
    const [made, notMade] = isMade ? [1, 0] : [0, 1]
    expect(it.store.stats().server).toMatchObject({ inDoubtMade: made, inDoubtNotMade: notMade })
  })

  test('is settled before the changes behind it are sent', async () => {
    await using it = await openCuttable(await started(), keep)
    it.proxy.hold('answers', 'UPDATE')
    const inDoubt = endsOf([it.store.createPlant({ id: 30n, name: 'new' })])
    await it.proxy.untilHeld()

    const behind = endsOf([
      it.store.createPlant({ id: 30n, name: 'other' }),
      it.store.createPlant({ id: 31n, name: 'new' }),
    ])
    it.proxy.cut()

    expect(await inDoubt).toEqual([null])
    expect(await behind).toEqual(['taken', null])
    expect(it.store.stats().server).toMatchObject({ inDoubtMade: 1, inDoubtNotMade: 0 })
  })

  test('keeps the order of the changes behind one that the server refuses', async () => {
    await using it = await openCuttable(await started(), keep)
    await it.query(
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
      waves.push(it.store.createPlant(plant))
      await turns()
    }

    expect(await endsOf(waves)).toEqual([null, 'unexpected', null, 'taken'])
    expect(it.store.stats().server).toMatchObject({ inDoubtMade: 0, lostCommits: 0 })
  })

  test('is told as made, with what a plant was refused for, once all of it was', async () => {
    await using it = await openCuttable(await started(), keep)
    it.proxy.hold('answers', 'UPDATE')

    const ended = endsOf(creates(it.store))
    await it.proxy.untilHeld()
    // It was made: others change the plant before its end is known.
    await until('the plant', () => it.other.readPlant(9n))
    await it.other.deletePlant(9n)
    await it.other.deletePlant(3n)
    it.proxy.cut()

    // The refused create is tried again, where what refused it is gone.
    expect(await ended).toEqual(['stored already', null, null])
    expect(await it.other.readPlant(9n)).toBeNull()
    expect(await it.other.readPlant(3n)).toEqual({ id: 3n, name: 'another' })
  })

  test('keeps a commit from being made later, once it counts as not made', async () => {
    const server = await started()
    await using it = await openCuttable(server, keep)
    const [backend] = await it.query(
      `SELECT pid FROM pg_stat_activity
       WHERE datname = current_database() AND query LIKE '%lanes%' AND client_port IN
         (SELECT client_port FROM pg_stat_activity WHERE application_name LIKE 'plantstore@%')
       ORDER BY query_start DESC LIMIT 1`,
    )
    process.kill(Number(backend.pid), 'SIGSTOP')
    try {
      const ended = endsOf([it.store.createPlant({ id: 9n, name: 'nine' })])
      await Bun.sleep(200)
      // The server has the statement, and its backend does not run.
      it.proxy.cut(true)
      expect(await ended).toEqual([null])
      await it.store.deletePlant(9n)
    } finally {
      process.kill(Number(backend.pid), 'SIGCONT')
    }

    await Bun.sleep(300)
    expect(await it.other.readPlant(9n)).toBeNull()
    expect(it.store.stats().server).toMatchObject({ inDoubtMade: 0, inDoubtNotMade: 1 })
  })

  test('sends a change again whose transaction the server has put out', async () => {
    await using it = await openCuttable(await started(), keep)
    await it.store.patchPlant(1n, { name: 'first' })
    it.proxy.hold('answers', 'BEGIN')

    const ended = endsOf([it.store.patchPlant(1n, { tag: 'new' })])
    await it.proxy.untilHeld()
    // The row is locked until the server finds that nothing comes any more.
    await until('the lock to end', async () => {
      return (await errorOf(it.other.patchPlant(1n, { name: 'other' }))) === null
    })
    it.proxy.cut()

    expect(await ended).toEqual([{ id: 1n, name: 'other', tag: 'new' }])
  })

  test('tells that a server has lost what it had confirmed', async () => {
    await using it = await openCuttable(await started(), keep)
    for (const plant of range(20, 5)) await it.store.createPlant(plant)
    const before = await endOf(it.store)
    await it.query('UPDATE lanes SET seq = seq - 3 WHERE seq > 3')

    it.proxy.cut()
    await it.store.createPlant({ id: 9n, name: 'nine' })

    expect(it.events).toContainEqual({ event: 'acknowledged-lost', commits: 3 })
    if (keep !== null) await expectNewChangeLog(it.other, before)
    expect(it.store.stats().server?.lostCommits).toBe(3)
  })

  test('begins a new change log on another timeline of the server, and only there', async () => {
    await using it = await openCuttable(await started(), keep)
    if (keep === null) return
    const [before] = await it.query('SELECT timeline FROM change_log')
    expect(before?.timeline).toMatch(/^\d+-[0-9A-F]{8}$/)
    const cursor = await endOf(it.store)

    it.proxy.cut()
    await it.store.createPlant({ id: 9n, name: 'nine' })
    expect((await follow(it.other, cursor)).map(({ id }) => id)).toEqual([9n])
    await it.query(`UPDATE change_log SET timeline = '1-00000000'`)
    it.proxy.cut()
    await it.store.deletePlant(9n)

    await expectNewChangeLog(it.other, cursor)
    expect(await it.query('SELECT timeline FROM change_log')).toEqual([before])
  })

  test('continues in a new lane if its own is gone, without an alarm of lost commits', async () => {
    await using it = await openCuttable(await started(), keep)
    const before = await endOf(it.store)
    await it.query('DELETE FROM lanes')

    await it.store.createPlant({ id: 9n, name: 'nine' })
    if (keep !== null) await expectNewChangeLog(it.other, before)
    await it.store.deletePlant(9n)

    expect(it.events.map(({ event }) => event)).toContain('lane-gone')
    expect(it.events.map(({ event }) => event)).not.toContain('acknowledged-lost')
    expect(it.store.stats().server?.lostCommits).toBe(0)

    expect(await it.other.readPlant(9n)).toBeNull()
  })

  test.each([
    ['creates', creates, 'UPDATE'],
    ['changes of all kinds', mixed, 'COMMIT'],
  ] as const)(
    'is an error of its own for %s whose lane is gone, as nobody knows',
    async (...row) => {
      const [, changes, word] = row
      await using it = await openCuttable(await started(), keep)
      it.proxy.hold('answers', word)

      const ended = endsOf(changes(it.store))
      await it.proxy.untilHeld()
      await it.query('TRUNCATE lanes')
      it.proxy.cut()

      for (const end of await ended) expect(end).toBe('unexpected')
      expect(it.events).toContainEqual({ event: 'lane-gone', detail: expect.any(String) })
      expect(it.store.stats().server).toMatchObject({ inDoubtMade: 0, inDoubtNotMade: 0 })
      // Those that come later are answered as ever.
      await it.store.createPlant({ id: 50n, name: 'fifty' })
      expect(await allPlants(it.store)).toEqual(await allPlants(it.other))
    },
  )

  test('waits for the standby, whatever the database sets', async () => {
    const server = await started()
    const setStandby = async (name: string) => {
      await server.query(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`)
      await server.query('SELECT pg_reload_conf()')
    }
    try {
      await using it = await openCuttable(server, keep)
      await it.query(
        `DO $$ BEGIN EXECUTE format(
           'ALTER DATABASE %I SET statement_timeout = ''200ms'';
            ALTER DATABASE %1$I SET synchronous_commit = off', current_database()
         ); END $$`,
      )
      it.proxy.cut()
      await it.store.deletePlant(4n)
      await setStandby('nobody')
      await Bun.sleep(200)
      let isAnswered = false
      const creating = it.store.createPlant({ id: 9n, name: 'nine' }).then(() => {
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

  test('refuses changes and reads while the server is away, and stores none of them later', async () => {
    const server = await started()
    await using it = await openCuttable(server, keep)
    await server.stop()
    const change = endsOf([it.store.createPlant({ id: 9n, name: 'nine' })])
    const read = endsOf([it.store.readPlant(1n)])

    expect(await read).toEqual(['cannot read'])
    expect(await it.store.countPlants().catch(messageOf)).toBe('cannot read from the database')
    expect(it.store.probe()).rejects.toHaveProperty('error', 'cannot write')
    expect(await change).toEqual(['cannot write'])
    expect(it.store.stats().problem).not.toBeNull()
    await server.restart()

    await until('a writable store', () => it.store.stats().problem === null)
    await it.store.probe()
    expect(await it.store.readPlant(9n)).toBeNull()
    expect(it.store.stats().server).toMatchObject({ reconnects: 1, failovers: 0, lostCommits: 0 })
  })
}

describeServers('a lost answer of %s', lostAnswers(null))
describeServers('a lost answer of %s, with a change log', lostAnswers(1e9))
