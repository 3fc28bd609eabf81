// docs/scaling.md: the table of what a server refuses has what clients, the log, /health and check make of it.

import { expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SQL } from 'bun'
import { ERRORS } from '../../../src/errors'
import { PATIENCE_MS, root } from '../../harness/daemon'
import { describeServer } from '../../harness/own-server'
import { openPlain } from '../../harness/plain-role'
import { errorOf } from '../../harness/postgres-store'
import { until } from '../../harness/until'

setDefaultTimeout(PATIENCE_MS)

type Plain = Awaited<ReturnType<typeof openPlain>>

const create = ({ store }: Plain) => store.createPlant({ id: 2n, name: 'a long name' })
const replace = ({ store }: Plain) => store.replacePlant({ id: 1n, name: 'other' })

/** A create, once the daemon has seen that it must refuse it. */
const refusedCreate = async (it: Plain) => {
  await until('an altered table', () => it.store.stats().problem !== null)
  await create(it)
}

const raise = (state: string) => `CREATE FUNCTION fail(id bigint) RETURNS bigint LANGUAGE plpgsql
  IMMUTABLE AS $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '${state}'; END $$`

/**
 * By the beginning of a row: statements that make it happen, in a transaction that stays open if `isHeld`; and
 * the request of a client.
 */
const causes: Readonly<
  Record<
    string,
    { act: string; isHeld?: true; heal?: string; ask?: (it: Plain) => Promise<unknown> }
  >
> = {
  'a privilege': { act: 'REVOKE INSERT ON plants FROM $role', ask: create },
  'a policy': {
    act: 'ALTER TABLE plants ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY',
    ask: create,
  },
  'a table was made `UNLOGGED`': { act: 'ALTER TABLE plants SET UNLOGGED', ask: refusedCreate },
  'a foreign key': {
    act: 'CREATE TABLE beds (plant bigint REFERENCES plants); INSERT INTO beds VALUES (1)',
    ask: ({ store }) => store.deletePlant(1n),
  },
  'only old changes': { act: 'REVOKE DELETE ON changes FROM $role' },
  'password changed': {
    act: `ALTER ROLE $role PASSWORD 'x';
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '$role'`,
    heal: `ALTER ROLE $role PASSWORD 'secret'`,
    // Writes wait for longer.
    ask: ({ store }) => store.readPlant(1n),
  },
  'the disk is full': {
    act: `${raise('53100')}; CREATE INDEX full_disk ON plants (fail(id)) WHERE id <> 1`,
    ask: create,
  },
  'a trigger': {
    act: `CREATE FUNCTION discard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
      CREATE TRIGGER discards BEFORE INSERT ON plants FOR EACH ROW EXECUTE FUNCTION discard()`,
    ask: refusedCreate,
  },
  "another program's constraint": {
    act: 'ALTER TABLE plants ADD CONSTRAINT short CHECK (length(name) < 9)',
    ask: create,
  },
  'another session': {
    act: 'SELECT FROM plants WHERE id = 1 FOR UPDATE',
    isHeld: true,
    ask: replace,
  },
  '`LOCK TABLE`': { act: 'LOCK TABLE plants', isHeld: true, ask: create },
}

const page = readFileSync(join(root, 'docs/scaling.md'), 'utf8')
const section = /^## When the server refuses$(.*?)^## /ms.exec(page)?.[1] ?? ''
const rows: string[][] = []
for (const [, line = ''] of [...section.matchAll(/^\| (.+) \|$/gm)].slice(1)) {
  const [what = '', log = '', ...answers] = line.split(' | ')
  rows.push([what, log.replace('the same', rows.at(-1)?.[1] ?? ''), ...answers])
}

test('every row of the table is tried', () => {
  const found = rows.map(([what = '']) => Object.keys(causes).find((it) => what.startsWith(it)))

  expect(found).toEqual(Object.keys(causes))
})

describeServer('the docs of what %s refuses', (started) => {
  test.concurrent.each(rows)(
    '%s',
    async (what, log = '', clients = '', health = '', check = '') => {
      const [, cause] = Object.entries(causes).find(([it]) => what?.startsWith(it)) ?? []
      if (!cause) throw new Error(`${what} is not tried`)
      const server = await started()
      await using it = await openPlain(server, server.port, 1000)
      await using other = new SQL({ adapter: 'postgres', url: it.admin, tls: 'disable', max: 1 })
      const { act, isHeld, heal, ask } = cause
      if (isHeld) await other.unsafe(`BEGIN; ${act}`).simple()
      else await it.query(act)

      const error = ask ? await errorOf(ask(it)) : null

      expect(clients).toContain(error === null ? 'nothing' : String(ERRORS[error].number))
      const [, event] = /`([a-z-]+)`/.exec(log) ?? []
      await until(`${event}`, () => it.events.some((logged) => logged.event === event))
      await until(`health ${health}`, async () => (await it.isHealthy()) === (health === '200'))
      const problems = await it.check().catch((reason) => [String(reason)])
      expect(problems.length > 0 ? 'says so' : 'ok').toBe(check)
      if (heal) {
        await it.query(heal)
        await until('health', it.isHealthy)
      }
    },
  )
})
