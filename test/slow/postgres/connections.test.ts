// A server that runs out of connections.

import { expect, setDefaultTimeout, test } from 'bun:test'
import { connect } from '../../../src/engine/postgres/connection/hosts'
import { startPostgres } from '../../../tools/postgres/server'
import { PATIENCE_MS } from '../../harness/daemon'
import { describeServers } from '../../harness/own-server'
import { errorOf, type Logged, newDatabase, openAt, targetOf } from '../../harness/postgres-store'
import { until } from '../../harness/until'

setDefaultTimeout(2 * PATIENCE_MS)

describeServers('lost connections to %s', (_, installation) => {
  test('are opened again once other clients free theirs', async () => {
    await using server = await startPostgres(installation, { settings: { max_connections: '12' } })
    const url = await newDatabase(server)
    await server.query(
      `CREATE ROLE plain LOGIN PASSWORD 'secret' IN ROLE pg_write_all_data, pg_read_all_data`,
    )
    await server.query('GRANT CREATE ON SCHEMA public TO plain', url)
    const target = url.replace(/admin:[^@]*@/, 'plain:secret@')
    const events: Logged[] = []
    const store = await openAt(target, events)
    await server.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'plain'`,
    )
    const others = []
    for (;;) {
      const other = await connect(targetOf(target)).catch(() => null)
      if (!other) break
      others.push(other)
    }

    const refusal = await errorOf(store.createPlant({ id: 1n, name: 'one' }))
    await until('the reason in the log', () => JSON.stringify(events).includes('(53300)'))
    for (const other of others) await other.close()
    await until(
      'a create',
      async () => !(await errorOf(store.createPlant({ id: 2n, name: 'two' }))),
    )

    expect(refusal).toBe('storage failed')
    expect(events.map(({ event }) => event)).toContain('server-found')
    await store.close()
  })
})
