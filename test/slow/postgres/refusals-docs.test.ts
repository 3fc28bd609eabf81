// docs/scaling.md: the table of refusals shows the effect on clients, the log, /health and check.

import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ERRORS } from '../../../src/request-errors'
import { root } from '../../harness/daemon'
import { onServers } from '../../harness/own-server'
import { openPlain } from '../../harness/plain-role'
import { beginOther, errorOf } from '../../harness/postgres-store'
import { until } from '../../harness/until'

type Plain = Awaited<ReturnType<typeof openPlain>>

const create = ({ store }: Plain) => store.createPlant({ id: 2n, name: 'a long name' })
const replace = ({ store }: Plain) => store.replacePlant({ id: 1n, name: 'other' })

/** A create, once the daemon has noticed that writes are refused. */
const refusedCreate = async (fixture: Plain) => {
  await until('an altered table', () => fixture.store.stats().problem !== null)
  await create(fixture)
}

const raiseError = (
  state: string,
) => `CREATE FUNCTION fail(id bigint) RETURNS bigint LANGUAGE plpgsql
  IMMUTABLE AS $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '${state}'; END $$`

/**
 * The causes by the beginning of a row: statements, in a transaction that stays open if `isHeld`; and a client's
 * request.
 */
const CAUSES: Readonly<
  Record<
    string,
    { act: string; isHeld?: true; heal?: string; ask?: (fixture: Plain) => Promise<unknown> }
  >
> = {
  'a privilege': { act: 'REVOKE INSERT ON plants FROM $role', ask: create },
  'a table was made `UNLOGGED`': { act: 'ALTER TABLE plants SET UNLOGGED', ask: refusedCreate },
  'only old changes': { act: 'REVOKE DELETE ON changes FROM $role' },
  'password changed': {
    act: `ALTER ROLE $role PASSWORD 'x';
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '$role'`,
    heal: `ALTER ROLE $role PASSWORD 'secret'`,
    // Writes wait longer.
    ask: ({ store }) => store.readPlant(1n),
  },
  'the disk is full': {
    act: `${raiseError('53100')}; CREATE INDEX full_disk ON plants (fail(id)) WHERE id <> 1`,
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

const PAGE = readFileSync(join(root, 'docs/scaling.md'), 'utf8')
const SECTION = /^## When the server refuses$(.*?)^## /ms.exec(PAGE)?.[1] ?? ''
const ROWS: string[][] = []
for (const [, line = ''] of [...SECTION.matchAll(/^\| (.+) \|$/gm)].slice(1)) {
  const [what = '', log = '', ...answers] = line.split(' | ')
  ROWS.push([what, log.replace('the same', ROWS.at(-1)?.[1] ?? ''), ...answers])
}

test('the tests cover every row of the table of refusals', () => {
  const tested = ROWS.map(([what = '']) =>
    Object.keys(CAUSES).find((cause) => what.startsWith(cause)),
  )

  expect(tested).toEqual(Object.keys(CAUSES))
})

const testRow = onServers('the docs of what %s refuses', { isNewest: true })

testRow.concurrentEach(ROWS)(
  'match the log, the answers, the health and the check: %s',
  async (server, what, log = '', clients = '', health = '', check = '') => {
    const [, cause] = Object.entries(CAUSES).find(([name]) => what?.startsWith(name)) ?? []
    if (!cause) throw new Error(`${what} is not tried`)
    await using fixture = await openPlain(server, server.port, 1000)
    const { act, isHeld, heal, ask } = cause
    await using _other = await beginOther(fixture.admin, isHeld ? act : '')
    if (!isHeld) await fixture.query(act)

    const error = ask ? await errorOf(ask(fixture)) : null

    expect(clients).toContain(error === null ? 'nothing' : String(ERRORS[error].number))
    const [, event] = /`([a-z-]+)`/.exec(log) ?? []
    await until(`${event}`, () => fixture.events.some((logged) => logged.event === event))
    await until(`health ${health}`, async () => (await fixture.isHealthy()) === (health === '200'))
    const problems = await fixture.check().catch((reason) => [String(reason)])
    expect(problems.length > 0 ? 'says so' : 'ok').toBe(check)
    if (heal) {
      await fixture.query(heal)
      await until('health', fixture.isHealthy)
    }
  },
)
