// Changes of the tables by other programs, found at the start, while serving and by check.

import { expect, setDefaultTimeout } from 'bun:test'
import { PATIENCE_MS } from '../../harness/daemon'
import { onServers } from '../../harness/own-server'
import { openPlain } from '../../harness/plain-role'
import { errorOf, refusalOn, runOn, untilCreated } from '../../harness/postgres-store'
import { until } from '../../harness/until'

setDefaultTimeout(2 * PATIENCE_MS)

const makeFunction = (body: string) =>
  `CREATE FUNCTION act() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} END $$;`

/** Unsafe alterations: the statement, its reversal, and part of the message. */
const UNSAFE = [
  [
    'an unlogged table',
    'ALTER TABLE plants SET UNLOGGED',
    'ALTER TABLE plants SET LOGGED',
    'UNLOGGED',
  ],
  [
    'an empty change_log',
    'DELETE FROM change_log',
    'INSERT INTO change_log (last) VALUES (0)',
    'table change_log must have one row; run DELETE FROM change_log; INSERT INTO change_log',
  ],
  [
    'a type that pads names',
    'ALTER TABLE plants ALTER name TYPE char(20)',
    'ALTER TABLE plants ALTER name TYPE text COLLATE "C"',
    'column plants.name is character',
  ],
  [
    'a trigger that rewrites some names',
    `${makeFunction(`new.name := 'rewritten'; RETURN new;`)} CREATE TRIGGER act
     BEFORE INSERT ON plants FOR EACH ROW WHEN (new.name LIKE 'w%') EXECUTE FUNCTION act()`,
    'DROP TRIGGER act ON plants',
    `trigger "act" on plants is not plantstore's; drop it`,
  ],
  [
    'a generated column',
    `ALTER TABLE plants DROP COLUMN tag;
     ALTER TABLE plants ADD COLUMN tag text COLLATE "C" GENERATED ALWAYS AS (name) STORED`,
    'ALTER TABLE plants ALTER tag DROP EXPRESSION; CREATE INDEX plants_by_tag ON plants (left(tag, 200), id) WHERE tag IS NOT NULL',
    'column plants.tag is text, generated; expected text',
  ],
  [
    'a rule that discards deletes',
    'CREATE RULE keeps AS ON DELETE TO plants DO INSTEAD NOTHING',
    'DROP RULE keeps ON plants',
    `rule "keeps" on plants is not plantstore's; drop it`,
  ],
] as const

type Plain = Awaited<ReturnType<typeof openPlain>>

async function expectRefused(fixture: Plain, text: string): Promise<void> {
  await until('the event', () =>
    fixture.events.some(
      ({ event, detail }) => event === 'tables-altered' && `${detail}`.includes(text),
    ),
  )
  expect(await fixture.isHealthy()).toBeFalse()
  expect(fixture.store.stats().problem).not.toBeNull()
  expect(await errorOf(fixture.store.createPlant({ id: 50n, name: 'fifty' }))).toBe(
    'storage failed',
  )
  expect(await refusalOn(fixture.url, ['serve', '--port', '0'])).toContain(text)
}

/** Expects that a store writes once what altered its tables is undone, and has stored nothing meanwhile. */
async function expectHealed({ store, isHealthy }: Plain): Promise<void> {
  await until('health', isHealthy)
  await untilCreated(store, 51n)
  expect(await store.readPlant(50n)).toBeNull()
}

const test = onServers('a store in %s with altered tables')

test.concurrentEach(UNSAFE)(
  'refuses writes until %s is undone',
  async (server, _, alter, undo, text) => {
    await using fixture = await openPlain(server)
    await fixture.query(alter)

    await expectRefused(fixture, text)
    expect((await fixture.check()).join('\n')).toContain(text)

    await fixture.query(undo)
    await expectHealed(fixture)
    expect(await fixture.check()).toEqual([])
  },
)

test('is unhealthy and refuses writes once a newer plantstore has migrated the schema', async (server) => {
  await using fixture = await openPlain(server)
  await fixture.query('UPDATE plantstore_schema SET version = version + 1')

  await expectRefused(fixture, 'written by a newer plantstore')

  expect(await fixture.store.readPlant(1n)).toEqual({ id: 1n, name: 'one' })
  await fixture.query('UPDATE plantstore_schema SET version = version - 1')
  await expectHealed(fixture)
})

test('allows a disabled trigger', async (server) => {
  await using fixture = await openPlain(server)
  await fixture.query(
    `${makeFunction('RETURN NULL;')}
       CREATE TRIGGER act BEFORE INSERT ON plants FOR EACH ROW EXECUTE FUNCTION act();
       ALTER TABLE plants DISABLE TRIGGER act`,
  )

  expect(await fixture.check()).toEqual([])
  await fixture.store.createPlant({ id: 2n, name: 'two' })
  expect(await fixture.isHealthy()).toBeTrue()
})

test('refuses an export that a policy would hide plants from', async (server) => {
  await using fixture = await openPlain(server)
  await fixture.query('ALTER TABLE plants ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY')

  for (const suffix of ['', '?prepare=false']) {
    if (suffix !== '') {
      for (const [name, value] of [
        ['lock_timeout', '3s'],
        ['idle_in_transaction_session_timeout', '2s'],
        ['tcp_user_timeout', '5s'],
        ['row_security', 'off'],
      ]) {
        await fixture.query(`ALTER ROLE $role SET ${name} = '${value}'`)
      }
    }
    const { out, err, code } = await runOn(`${fixture.url}${suffix}`, ['export'])
    expect({ out, isFailed: code !== 0 }).toEqual({ out: '', isFailed: true })
    expect(err).toContain('row-level security policy for table "plants"')
  }
  expect(await errorOf(fixture.store.readPlant(1n))).toBe('storage failed')
})
