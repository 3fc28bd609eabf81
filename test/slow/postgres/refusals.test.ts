// A server that answers and refuses statements: health, log, metric, the errors of clients, and the recovery.
import { expect, setDefaultTimeout } from 'bun:test'
import { startProxy } from '../../harness/cuttable'
import { PATIENCE_MS } from '../../harness/daemon'
import { onServers } from '../../harness/own-server'
import { openPlain } from '../../harness/plain-role'
import { alterSystem, errorOf } from '../../harness/postgres-store'
import { allPlants, range } from '../../harness/tested-store'
import { until } from '../../harness/until'

setDefaultTimeout(2 * PATIENCE_MS)

/** The promise of docs/scaling.md for health and the metric, in both directions. */
const LAGS_AT_MOST_MS = 10_000

const FORCED = 'ALTER TABLE plants FORCE ROW LEVEL SECURITY; ALTER TABLE plants'

/** A lost privilege or object, its loss and repair, the SQLSTATE, and true if only a write shows the loss. */
const REFUSALS = [
  [
    'UPDATE',
    'REVOKE UPDATE ON plants FROM $role',
    'GRANT UPDATE ON plants TO $role',
    '42501',
    true,
  ],
  ['lanes', 'REVOKE UPDATE ON lanes FROM $role', 'GRANT UPDATE ON lanes TO $role', '42501', false],
  [
    'the start of the change log',
    'REVOKE SELECT ON change_log_start FROM $role',
    'GRANT SELECT ON change_log_start TO $role',
    '42501',
    false,
  ],
  [
    'a column',
    'ALTER TABLE lanes DROP COLUMN refused',
    `ALTER TABLE lanes ADD COLUMN refused text NOT NULL DEFAULT ''`,
    '42703',
    false,
  ],
  [
    'its ownership',
    'ALTER TABLE plants OWNER TO admin',
    'ALTER TABLE plants OWNER TO $role',
    '42501',
    false,
  ],
  [
    'its policy',
    `${FORCED} ENABLE ROW LEVEL SECURITY`,
    `${FORCED} DISABLE ROW LEVEL SECURITY`,
    '42501',
    true,
  ],
] as const

const test = onServers('a store in %s')

test.concurrentEach(REFUSALS)(
  'is unhealthy while its role lacks %s',
  async (server, _, lose, heal, sqlstate, isSeenByWrites) => {
    await using fixture = await openPlain(server)
    expect(await fixture.isHealthy()).toBeTrue()
    expect(await fixture.check()).toEqual([])
    await fixture.query(lose)

    if (isSeenByWrites)
      expect(await errorOf(fixture.store.replacePlant({ id: 1n, name: 'x' }))).toBe(
        'storage failed',
      )
    await until('bad health', async () => !(await fixture.isHealthy()), LAGS_AT_MOST_MS)

    expect(await errorOf(fixture.store.probe())).toBe('storage failed')
    expect(fixture.store.stats().problem).not.toBeNull()
    expect(fixture.events).toContainEqual({
      event: 'statement-refused',
      sqlstate,
      detail: expect.any(String),
    })
    expect(await fixture.check()).not.toEqual([])
    await fixture.query(heal)
    await until('health', fixture.isHealthy, LAGS_AT_MOST_MS)
    await fixture.store.createPlant({ id: 9n, name: 'nine' })
    expect(await allPlants(fixture.store)).toHaveLength(2)
  },
)

test('can be checked by a role with one connection', async (server) => {
  await using fixture = await openPlain(server)
  await fixture.store.close()
  await fixture.query('ALTER ROLE $role CONNECTION LIMIT 1')
  // The server may not have ended the connections of the store yet.
  const sessions = `SELECT FROM pg_stat_activity WHERE usename = '$role'`
  await until('sessions to end', async () => (await fixture.query(sessions)).length === 0)

  expect(await fixture.check()).toEqual([])
})

test('is unhealthy without DELETE even after a create', async (server) => {
  await using fixture = await openPlain(server)
  await fixture.query('REVOKE DELETE ON plants FROM $role')
  expect(await errorOf(fixture.store.deletePlant(1n))).toBe('storage failed')

  await fixture.store.createPlant({ id: 2n, name: 'two' })

  expect(await errorOf(fixture.store.probe())).toBe('storage failed')
  await fixture.query('GRANT DELETE ON plants TO $role')
  await fixture.store.deletePlant(1n)
  await until('health', fixture.isHealthy, LAGS_AT_MOST_MS)
  expect(fixture.store.stats().problem).toBeNull()
  expect(fixture.events.at(-1)?.event).toBe('statements-accepted')
})

test('reports a server that became read-only', async (server) => {
  await using fixture = await openPlain(server)
  await alterSystem(server, 'SET default_transaction_read_only = on')
  try {
    await until('a store that is not writable', async () => !(await fixture.isHealthy()))
  } finally {
    await alterSystem(server, 'RESET default_transaction_read_only')
  }

  await until('a writable store', () => fixture.store.stats().problem === null)
  await fixture.store.createPlant({ id: 9n, name: 'nine' })
})

test('fails only the writes whose rows a trigger discards', async (server) => {
  await using fixture = await openPlain(server)
  await fixture.query(
    `CREATE FUNCTION discard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
       CREATE TRIGGER discards BEFORE INSERT ON plants FOR EACH ROW WHEN (new.id = 13)
       EXECUTE FUNCTION discard();
       CREATE TRIGGER keeps BEFORE UPDATE OR DELETE ON plants FOR EACH ROW WHEN (old.id = 1)
       EXECUTE FUNCTION discard()`,
  )
  const [before] = await fixture.query('SELECT seq FROM lanes')

  const endings = await Promise.all([
    ...range(10, 5).map((plant) => errorOf(fixture.store.createPlant(plant))),
    errorOf(fixture.store.createPlants(range(13, 1).concat(range(20, 2)))),
    errorOf(fixture.store.replacePlant({ id: 1n, name: 'other' })),
    errorOf(fixture.store.deletePlant(1n)),
  ])

  expect(endings).toEqual([
    null,
    null,
    null,
    'busy',
    null,
    'unexpected',
    'unexpected',
    'unexpected',
  ])
  expect((await allPlants(fixture.store)).map(({ id }) => id)).toEqual([1n, 10n, 11n, 12n, 14n])
  expect(await fixture.store.readPlant(1n)).toEqual({ id: 1n, name: 'one' })
  expect(fixture.events).toContainEqual({
    event: 'unexpected',
    detail: expect.stringContaining('a trigger or rule of the table "plants" discards rows'),
  })
  const [after] = await fixture.query('SELECT seq FROM lanes')
  expect(Number(after.seq) - Number(before.seq)).toBeLessThan(20)
})

test('acknowledges creates even if it cannot read the plants of refused ones', async (server) => {
  await using fixture = await openPlain(server)
  // The role may insert a plant, but not read the stored one.
  await fixture.query(
    'ALTER TABLE plants OWNER TO admin; GRANT SELECT (id), INSERT ON plants TO $role',
  )

  const endings = await Promise.all(
    range(1, 2).map((plant) => errorOf(fixture.store.createPlant(plant))),
  )

  expect(endings).toEqual(['busy', null])
  expect(await fixture.query('SELECT id::int FROM plants ORDER BY id')).toEqual([
    { id: 1 },
    { id: 2 },
  ])
})

test('repeats a step of its lane only a few times', async (server) => {
  await using fixture = await openPlain(server)
  await fixture.query(
    `CREATE FUNCTION discard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
       CREATE TRIGGER keeps BEFORE UPDATE ON lanes FOR EACH ROW EXECUTE FUNCTION discard()`,
  )

  expect(await errorOf(fixture.store.createPlant({ id: 9n, name: 'nine' }))).toBe('storage failed')

  expect(fixture.events).toContainEqual({ event: 'lane-gone', detail: expect.any(String) })
  expect(fixture.events.length).toBeLessThan(100)
})

test('refuses reads of a locked table within 5 s, still checks tokens, and stays connected', async (server) => {
  await using fixture = await openPlain(server)
  const lock = fixture.query('BEGIN; LOCK TABLE plants; SELECT pg_sleep(12); COMMIT')
  await Bun.sleep(300)
  const startedAt = performance.now()

  const reads = Array.from({ length: 3 }, async (_, index) => {
    await Bun.sleep(index * 20)
    const error = await errorOf(
      index === 0 ? fixture.store.listPlants({ limit: 1 }) : fixture.store.readPlant(1n),
    )
    return { error, milliseconds: performance.now() - startedAt }
  })
  expect(await fixture.store.findToken('unknown')).toBeNull()
  expect(performance.now() - startedAt).toBeLessThan(4000)
  for (const { error, milliseconds } of await Promise.all(reads)) {
    expect(error).toBe('busy')
    expect(milliseconds).toBeLessThan(9000)
  }
  await lock

  expect(await fixture.store.readPlant(1n)).toEqual({ id: 1n, name: 'one' })
  expect(fixture.events.map(({ event }) => event)).not.toContain('server-lost')
  await until('health', fixture.isHealthy)
})

test('detects half-open connections without any reads', async (server) => {
  using proxy = startProxy(server.port)
  await using fixture = await openPlain(server, proxy.port)
  proxy.silence()

  const isLost = () => {
    fixture.store.probe().catch(() => {})
    return fixture.events.some(({ event }) => event === 'server-lost')
  }

  // An unanswered commit is noticed later.
  await until('a lost server', isLost, 8000)
  await until('health', fixture.isHealthy)
})
