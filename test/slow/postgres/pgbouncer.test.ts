import { expect } from 'bun:test'
import { connect } from '../../../src/engine/postgres/connection/hosts'
import { startupOf } from '../../../src/engine/postgres/connection/settings'
import type { PostgresServer } from '../../../tools/postgres/server'
import { startProxy } from '../../harness/cuttable'
import { startDaemon } from '../../harness/daemon'
import { onServers } from '../../harness/own-server'
import { hasPgBouncer, roleStatements, startPgBouncer } from '../../harness/pgbouncer'
import { atPort, errorOf, openAt, runOn, targetOf } from '../../harness/postgres-store'
import { until } from '../../harness/until'

/** The settings of a session, except the one that marks an own session. */
const ROLE_SETTINGS = Object.keys(
  startupOf(targetOf('postgres://u@localhost/n?search_path=garden')),
).filter((name) => name !== 'plantstore.session')

const open = (url: string) => connect(targetOf(url))

/** The reason of a failed connection. */
const refusal = (url: string): Promise<string> =>
  open(url).then(
    async (connection) => {
      await connection.close()
      return 'connected'
    },
    (error: Error) => error.message,
  )

/** Applies the documented settings to the role. */
async function prepareRole(server: PostgresServer): Promise<PostgresServer> {
  for (const statement of roleStatements()) await server.query(statement)
  return server
}

const test = onServers('a store in %s behind PgBouncer', { canRun: hasPgBouncer() })

test('is refused while the role lacks a documented setting, which the error names', async (server) => {
  await prepareRole(server)
  await server.query('ALTER ROLE admin RESET ALL')
  await server.query('ALTER ROLE admin SET array_nulls = off')
  await server.query("ALTER ROLE admin SET idle_session_timeout = '1h'")
  await using pooler = await startPgBouncer(server)

  expect(await refusal(`${pooler.url()}?prepare=false`)).toEndWith(
    ': array_nulls is off, not on; idle_in_transaction_session_timeout is 0, not 2s; idle_session_timeout is 3600000, not 0; lock_timeout is 0, not 3s; row_security is on, not off; tcp_user_timeout is 0, not 5s: give the role these settings with ALTER ROLE … SET, then RECONNECT the pooler',
  )
  await server.query('ALTER ROLE admin RESET ALL')
  await prepareRole(server)
  await using fresh = await startPgBouncer(server)
  expect(await refusal(`${fresh.url()}?prepare=false`)).toBe('connected')
})

test('writes again after a connection fell silent in a transaction', async (server) => {
  await prepareRole(server)
  await using pooler = await startPgBouncer(server)
  await server.createDatabase('silent')
  using proxy = startProxy(Number(new URL(pooler.url()).port))
  const url = `${atPort(pooler.url('silent'), proxy.port)}?prepare=false`
  const store = await openAt(url)
  await store.createPlant({ id: 1n, name: 'one' })

  proxy.hold('requests', 'FOR UPDATE')
  const change = errorOf(store.patchPlant(1n, { tag: 'x' }))
  await proxy.untilHeld()
  proxy.silence()
  proxy.release()

  await until('a patch', async () => !(await errorOf(store.patchPlant(1n, { tag: 'y' }))))
  expect([null, 'busy', 'storage failed']).toContain(await change)
  await store.close()
})

test('works in session mode with one connection per session', async (server) => {
  await prepareRole(server)
  const lines = ['pool_mode=session', 'default_pool_size=5']
  await using pooler = await startPgBouncer(server, lines)
  await server.createDatabase('session_mode')
  const url = pooler.url('session_mode')
  expect(await refusal(url)).toEndWith('connected through a pooler: add prepare=false to the URL')
  const store = await openAt(`${url}?prepare=false`)

  await store.createPlant({ id: 1n, name: 'one' })
  expect(await store.patchPlant(1n, { tag: 'x' })).toEqual({ id: 1n, name: 'one', tag: 'x' })
  expect(await errorOf(store.createPlant({ id: 1n, name: 'one' }))).toBe('taken')
  await store.close()
})

test.each([
  [[]],
  [[`ignore_startup_parameters=${ROLE_SETTINGS}`]],
  [[`ignore_startup_parameters=${ROLE_SETTINGS},plantstore.session`]],
])('is refused without prepare=false: %j', async (server, lines) => {
  await using pooler = await startPgBouncer(await prepareRole(server), lines)

  expect(await refusal(pooler.url())).toEndWith(
    ': connected through a pooler: add prepare=false to the URL',
  )
  expect(await refusal(`${pooler.url()}?prepare=false`)).toBe('connected')
})

test('is refused in statement mode, at a standby too', async (server) => {
  await prepareRole(server)
  await server.createDatabase('standby_like')
  await server.query('ALTER DATABASE standby_like SET default_transaction_read_only = on')
  await using pooler = await startPgBouncer(server, ['pool_mode=statement'])

  for (const database of ['postgres', 'standby_like']) {
    expect(await refusal(`${pooler.url(database)}?prepare=false`)).toMatch(
      /transaction.* statement pooling .*\(08P01\)$/,
    )
  }
})

test('serves two daemons and the commands', async (server) => {
  await prepareRole(server)
  await using pooler = await startPgBouncer(server)
  await server.createDatabase('pooled')
  const url = `${pooler.url('pooled')}?prepare=false`
  const env = { PLANTSTORE_DATABASE: url }
  await using first = await startDaemon({ env })
  await using second = await startDaemon({ env })
  const daemons = [first, second]
  const ids = Array.from({ length: 400 }, (_, id) => id)

  const statuses = await Promise.all(
    ids.flatMap((id) =>
      daemons.map(async (daemon) => (await daemon.create(`{"id":${id},"name":"n"}`)).status),
    ),
  )
  const replacement = await Promise.all(
    ids.map(async (id) => {
      const init = { method: 'PUT', json: { name: `n${id}`, tag: 't' } }
      return (await (id % 2 ? first : second).fetch(`/plants/${id}`, init)).status
    }),
  )

  // One daemon has created each plant, and the other found it taken.
  expect(statuses.filter((status) => status === 200)).toHaveLength(ids.length)
  expect(statuses.filter((status) => status === 409)).toHaveLength(ids.length)
  expect(replacement.filter((status) => status === 200)).toHaveLength(ids.length)
  const { out } = await runOn(url, ['export'])
  expect(out).toBe(ids.map((id) => `{"id":${id},"name":"n${id}","tag":"t"}\n`).join(''))
  const check = await runOn(url, ['check'])
  expect(check.out).toStartWith(`ok: ${ids.length} plants, `)
})
