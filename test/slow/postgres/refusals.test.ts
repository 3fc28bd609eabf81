// A server that is there and refuses what plantstore asks: health, log, metric, what a client gets, and what heals it.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { startProxy } from '../../harness/cuttable'
import { PATIENCE_MS } from '../../harness/daemon'
import { describeServers } from '../../harness/own-server'
import { openPlain } from '../../harness/plain-role'
import { errorOf } from '../../harness/postgres-store'
import { allPlants, range } from '../../harness/tested-store'
import { until } from '../../harness/until'

setDefaultTimeout(2 * PATIENCE_MS)

/** The promise of docs/scaling.md for health and the metric, in both directions. */
const LAGS_AT_MOST_MS = 10_000

/** Milliseconds until `find` finds something. */
async function timeUntil(what: string, find: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await until(what, find)
  return performance.now() - startedAt
}

const forced = 'ALTER TABLE plants FORCE ROW LEVEL SECURITY; ALTER TABLE plants'

/** The lost privilege or object, its loss and its repair, the SQLSTATE, and true if only a write shows it. */
const refusals = [
  [
    'INSERT',
    'REVOKE INSERT ON plants FROM $role',
    'GRANT INSERT ON plants TO $role',
    '42501',
    false,
  ],
  [
    'UPDATE',
    'REVOKE UPDATE ON plants FROM $role',
    'GRANT UPDATE ON plants TO $role',
    '42501',
    false,
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
    'tokens',
    'REVOKE SELECT ON tokens FROM $role',
    'GRANT SELECT ON tokens TO $role',
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
  ['a table', 'ALTER TABLE plants RENAME TO p', 'ALTER TABLE p RENAME TO plants', '42P01', false],
  [
    'its ownership',
    'ALTER TABLE plants OWNER TO admin',
    'ALTER TABLE plants OWNER TO $role',
    '42501',
    false,
  ],
  [
    'its policy',
    `${forced} ENABLE ROW LEVEL SECURITY`,
    `${forced} DISABLE ROW LEVEL SECURITY`,
    '42501',
    true,
  ],
] as const

/** The obstacle to a new session, its repair, and the reason in the log. */
const closed = [
  ['a password', `ALTER ROLE $role PASSWORD 'x'`, `ALTER ROLE $role PASSWORD 'secret'`, 'password'],
  [
    'its connections',
    'ALTER ROLE $role CONNECTION LIMIT 1',
    'ALTER ROLE $role CONNECTION LIMIT -1',
    'too many connections',
  ],
  ['its login', 'ALTER ROLE $role NOLOGIN', 'ALTER ROLE $role LOGIN', 'not permitted to log in'],
  [
    'the right to write',
    'ALTER ROLE $role SET default_transaction_read_only = on',
    'ALTER ROLE $role RESET default_transaction_read_only',
    'read-only',
  ],
] as const

describeServers('what %s refuses', (started) => {
  test.concurrent.each(refusals)(
    'to a role that lost %s is in the log, and makes the store unhealthy until it is given back',
    async (_, lose, heal, sqlstate, isSeenByWrites) => {
      await using it = await openPlain(await started())
      expect(await it.isHealthy()).toBeTrue()
      expect(await it.check()).toEqual([])
      await it.query(lose)

      if (isSeenByWrites)
        expect(await errorOf(it.store.createPlant({ id: 2n, name: 'x' }))).toBe('cannot write')
      const waited = await timeUntil('bad health', async () => !(await it.isHealthy()))

      expect(waited).toBeLessThan(LAGS_AT_MOST_MS)
      expect(await errorOf(it.store.probe())).toBe('cannot write')
      expect(it.store.stats().problem).not.toBeNull()
      expect(it.events).toContainEqual({
        event: 'statement-refused',
        sqlstate,
        detail: expect.any(String),
      })
      if (!isSeenByWrites) expect(await it.check()).not.toEqual([])
      await it.query(heal)
      expect(await timeUntil('health', it.isHealthy)).toBeLessThan(LAGS_AT_MOST_MS)
      await it.store.createPlant({ id: 9n, name: 'nine' })
      expect(await allPlants(it.store)).toHaveLength(2)
    },
  )

  test('to the removal of old changes is an event and a metric, and no outage; check finds it', async () => {
    const server = await started()
    await using it = await openPlain(server, server.port, 1000)
    await it.query('REVOKE DELETE ON changes FROM $role')
    const failures = () => it.store.stats().server?.removalFailures ?? 0
    await until('removal to fail twice', () => failures() > 1)

    expect(await it.isHealthy()).toBeTrue()
    expect(it.store.stats().problem).toBeNull()
    const told = it.events.filter(({ event }) => event === 'changes-not-removed')
    expect(told).toEqual([
      { event: 'changes-not-removed', sqlstate: '42501', detail: expect.any(String) },
    ])
    expect(it.events.some(({ event }) => event === 'statement-refused')).toBeFalse()
    expect(await it.check()).toEqual([
      'old changes cannot be removed: permission denied for table changes (42501)',
    ])
    await it.query('GRANT DELETE ON changes TO $role')
    await until(
      'entries to be removed',
      async () => (await it.store.changeLog?.stats())?.entries === 0,
    )
    expect(await it.check()).toEqual([])
  })

  test('to a role with one connection is not what check needs', async () => {
    await using it = await openPlain(await started())
    await it.store.close()
    await it.query('ALTER ROLE $role CONNECTION LIMIT 1')
    // The server may not have ended the connections of the store yet.
    const sessions = `SELECT FROM pg_stat_activity WHERE usename = '$role'`
    await until('sessions to end', async () => (await it.query(sessions)).length === 0)

    expect(await it.check()).toEqual([])
  })

  test('to deletes does not heal with a create', async () => {
    await using it = await openPlain(await started())
    await it.query('REVOKE DELETE ON plants FROM $role')
    expect(await errorOf(it.store.deletePlant(1n))).toBe('cannot write')

    await it.store.createPlant({ id: 2n, name: 'two' })

    expect(await errorOf(it.store.probe())).toBe('cannot write')
    await it.query('GRANT DELETE ON plants TO $role')
    await it.store.deletePlant(1n)
    expect(await timeUntil('health', it.isHealthy)).toBeLessThan(LAGS_AT_MOST_MS)
    expect(it.store.stats().problem).toBeNull()
    expect(it.events.at(-1)?.event).toBe('statements-accepted')
  })

  test('for want of disk space lasts as long as that', async () => {
    await using it = await openPlain(await started())
    const fill = (last: number) =>
      `CREATE INDEX fills ON plants (fill(id)) WHERE id NOT BETWEEN 1 AND ${last}`
    await it.query(
      `CREATE FUNCTION fill(id bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS $$
       BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$; ${fill(1)}`,
    )
    expect(await errorOf(it.store.createPlant({ id: 2n, name: 'two' }))).toBe('disk full')
    expect(await errorOf(it.store.probe())).toBe('disk full')
    await it.query('DROP INDEX fills')
    await it.store.createPlant({ id: 2n, name: 'two' })
    await until('health', it.isHealthy)
    await it.query(fill(2))
    expect(await errorOf(it.store.createPlant({ id: 3n, name: 'three' }))).toBe('disk full')
    const end = performance.now() + LAGS_AT_MOST_MS + 3000
    while (performance.now() < end) {
      expect(await errorOf(it.store.probe())).toBe('disk full')
      await Bun.sleep(100)
    }
    expect(it.store.stats().problem).not.toBeNull()
    await it.query('DROP INDEX fills')

    expect(await timeUntil('health', it.isHealthy)).toBeLessThan(LAGS_AT_MOST_MS)
    expect(await allPlants(it.store)).toEqual([
      { id: 1n, name: 'one' },
      { id: 2n, name: 'two' },
    ])
  })

  test('because it became read-only is in the metric even without writes', async () => {
    const server = await started()
    await using it = await openPlain(server)
    const reload = async (change: string) => {
      await server.query(change)
      await server.query('SELECT pg_reload_conf()')
    }
    await reload('ALTER SYSTEM SET default_transaction_read_only = on')
    try {
      await until('a store that is not writable', () => it.store.stats().problem !== null)
    } finally {
      await reload('ALTER SYSTEM RESET default_transaction_read_only')
    }

    await until('a writable store', () => it.store.stats().problem === null)
    await it.store.createPlant({ id: 9n, name: 'nine' })
  })

  test.concurrent.each(closed)(
    'to a role that lost %s is in the log at once, and makes the store unhealthy',
    async (_, lose, heal, reason) => {
      await using it = await openPlain(await started())
      await it.query(lose)
      await it.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '$role'`,
      )

      const startedAt = performance.now()
      await errorOf(it.store.readPlant(1n))
      await until(`an event with ${reason}`, () =>
        it.events.some((event) => `${event.detail}`.includes(reason)),
      )

      expect(performance.now() - startedAt).toBeLessThan(8000)
      expect(await it.isHealthy()).toBeFalse()
      expect(it.store.stats().problem).not.toBeNull()
      await it.query(heal)
      await until('health', it.isHealthy)
      await it.store.createPlant({ id: 9n, name: 'nine' })
    },
  )

  test('by a trigger that discards rows is 50001 for those alone, and nothing of their group', async () => {
    await using it = await openPlain(await started())
    await it.query(
      `CREATE FUNCTION discard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
       CREATE TRIGGER discards BEFORE INSERT ON plants FOR EACH ROW WHEN (new.id = 13)
       EXECUTE FUNCTION discard();
       CREATE TRIGGER keeps BEFORE UPDATE OR DELETE ON plants FOR EACH ROW WHEN (old.id = 1)
       EXECUTE FUNCTION discard()`,
    )
    const [before] = await it.query('SELECT seq FROM lanes')

    const ended = await Promise.all([
      ...range(10, 5).map((plant) => errorOf(it.store.createPlant(plant))),
      errorOf(it.store.createPlants(range(13, 1).concat(range(20, 2)))),
      errorOf(it.store.replacePlant({ id: 1n, name: 'other' })),
      errorOf(it.store.deletePlant(1n)),
    ])

    expect(ended).toEqual([
      null,
      null,
      null,
      'unexpected',
      null,
      'unexpected',
      'unexpected',
      'unexpected',
    ])
    expect((await allPlants(it.store)).map(({ id }) => id)).toEqual([1n, 10n, 11n, 12n, 14n])
    expect(await it.store.readPlant(1n)).toEqual({ id: 1n, name: 'one' })
    expect(it.events).toContainEqual({
      event: 'unexpected',
      detail: 'a trigger, rule or policy of the table "plants" discards rows',
    })
    const [after] = await it.query('SELECT seq FROM lanes')
    expect(Number(after.seq) - Number(before.seq)).toBeLessThan(20)
  })

  test('of the plants that creates conflict with leaves the other creates of their commit acknowledged', async () => {
    await using it = await openPlain(await started())
    // Enough to insert a plant, and not to read the one that is in its way.
    await it.query(
      'ALTER TABLE plants OWNER TO admin; GRANT SELECT (id), INSERT ON plants TO $role',
    )

    const ended = await Promise.all(
      range(1, 2).map((plant) => errorOf(it.store.createPlant(plant))),
    )

    expect(ended).toEqual(['cannot write', null])
    expect(await it.query('SELECT id::int FROM plants ORDER BY id')).toEqual([{ id: 1 }, { id: 2 }])
  })

  test('by a unique index of another program is 50001 for that plant alone', async () => {
    await using it = await openPlain(await started())
    await it.query('CREATE UNIQUE INDEX one_name ON plants (name)')

    const ended = await Promise.all([
      errorOf(it.store.createPlant({ id: 2n, name: 'two' })),
      errorOf(it.store.createPlant({ id: 3n, name: 'one' })),
      errorOf(it.store.createPlants(range(10, 2))),
      errorOf(it.store.createPlants([{ id: 20n, name: 'two' }])),
    ])

    expect(ended).toEqual([null, 'unexpected', null, 'unexpected'])
    expect(it.events).toContainEqual({
      event: 'unexpected',
      detail: expect.stringContaining('one_name'),
    })
    expect(it.store.stats().server?.retries).toBe(0)
  })

  test('of every step of its lane is tried again a few times only', async () => {
    await using it = await openPlain(await started())
    await it.query(
      `CREATE FUNCTION discard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
       CREATE TRIGGER keeps BEFORE UPDATE ON lanes FOR EACH ROW EXECUTE FUNCTION discard()`,
    )

    expect(await errorOf(it.store.createPlant({ id: 9n, name: 'nine' }))).toBe('cannot write')

    expect(it.events).toContainEqual({ event: 'lane-gone', detail: expect.any(String) })
    expect(it.events.length).toBeLessThan(100)
  })

  test('while the table is locked is a read within 5 s; tokens do not wait, and no connection is lost', async () => {
    await using it = await openPlain(await started())
    const locking = it.query('BEGIN; LOCK TABLE plants; SELECT pg_sleep(12); COMMIT')
    await Bun.sleep(300)
    const startedAt = performance.now()

    const reads = Array.from({ length: 3 }, async (_, index) => {
      await Bun.sleep(index * 20)
      const error = await errorOf(
        index === 0 ? it.store.listPlants({ limit: 1 }) : it.store.readPlant(1n),
      )
      return { error, milliseconds: performance.now() - startedAt }
    })
    expect(await it.store.findToken('unknown')).toBeNull()
    expect(performance.now() - startedAt).toBeLessThan(4000)
    for (const { error, milliseconds } of await Promise.all(reads)) {
      expect(error).toBe('cannot read')
      expect(milliseconds).toBeLessThan(9000)
    }
    await locking

    expect(await it.store.readPlant(1n)).toEqual({ id: 1n, name: 'one' })
    expect(it.events.map(({ event }) => event)).not.toContain('server-lost')
    await until('health', it.isHealthy)
  })

  test('is nothing at all on half-open connections, which health finds without any reads', async () => {
    const server = await started()
    using proxy = startProxy(server.port)
    await using it = await openPlain(server, proxy.port)
    proxy.halfOpen()

    const waited = await timeUntil('a lost server', async () => {
      it.store.probe().catch(() => {})
      return it.events.some(({ event }) => event === 'server-lost')
    })

    // A commit that is not answered is noticed later.
    expect(waited).toBeLessThan(8000)
    await until('health', it.isHealthy)
  })

  test('to a check are temporary tables, which it needs, and leaves none', async () => {
    await using it = await openPlain(await started())
    const temporary = `SELECT nspname FROM pg_namespace WHERE nspname LIKE 'pg_temp%'`
    expect(await it.check()).toEqual([])
    expect(await it.query(temporary)).toHaveLength(0)
    const [{ name }] = await it.query('SELECT current_database() AS name')
    await it.query(`REVOKE TEMPORARY ON DATABASE ${name} FROM PUBLIC`)

    await expect(it.check()).rejects.toThrow('run GRANT TEMPORARY ON DATABASE')
  })

  test('to a check is what another program put on a table and makes writes fail', async () => {
    await using it = await openPlain(await started())
    await it.query(
      `ALTER TABLE plants ADD CONSTRAINT short CHECK (length(name) < 9);
       ALTER TABLE plants ADD CONSTRAINT one_tag UNIQUE (tag);
       CREATE UNIQUE INDEX one_name ON plants (name);
       CREATE INDEX by_name ON plants (name);
       ALTER TABLE tokens ADD COLUMN mine int NOT NULL;
       CREATE FUNCTION discard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
       CREATE TRIGGER discards BEFORE INSERT ON plants FOR EACH ROW EXECUTE FUNCTION discard();
       CREATE TRIGGER off BEFORE INSERT ON plants FOR EACH ROW EXECUTE FUNCTION discard();
       ALTER TABLE plants DISABLE TRIGGER off;
       CREATE TRIGGER records AFTER INSERT ON plants FOR EACH ROW EXECUTE FUNCTION discard();
       CREATE RULE keeps AS ON DELETE TO plants DO INSTEAD NOTHING;
       ALTER TABLE tokens ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY`,
    )

    expect(await it.check()).toEqual([
      "column tokens.mine is not plantstore's and must not be null; every write fails",
      `constraint "one_tag" on plants is not plantstore's; drop it`,
      `constraint "short" on plants is not plantstore's; drop it`,
      `unique index "one_name" on plants is not plantstore's; drop it`,
      'row-level security hides rows of tokens from this user; run ALTER TABLE tokens DISABLE ROW LEVEL SECURITY',
      `rule "keeps" on plants is not plantstore's; drop it`,
      `trigger "discards" on plants is not plantstore's; drop it`,
      `trigger "records" on plants is not plantstore's; drop it`,
    ])
  })
})
