// A server that runs out of connections.

import { expect, setDefaultTimeout } from 'bun:test'
import { connect } from '../../../src/engine/postgres/connection/hosts'
import { PATIENCE_MS } from '../../harness/daemon'
import { onServers } from '../../harness/own-server'
import { openPlain } from '../../harness/plain-role'
import { errorOf, targetOf, terminateSessions, untilCreated } from '../../harness/postgres-store'
import { until } from '../../harness/until'

setDefaultTimeout(2 * PATIENCE_MS)

const test = onServers('lost connections to %s', {
  server: () => ({ settings: { max_connections: '12' } }),
})

test('are opened again once other clients free theirs', async (server) => {
  await using fixture = await openPlain(server)
  const { store, events } = fixture
  await terminateSessions(server)
  const others = []
  for (;;) {
    const other = await connect(targetOf(fixture.url)).catch(() => null)
    if (!other) break
    others.push(other)
  }

  const refusal = await errorOf(store.createPlant({ id: 2n, name: 'two' }))
  await until('the reason in the log', () => JSON.stringify(events).includes('(53300)'))
  for (const other of others) await other.close()
  await untilCreated(store, 3n)

  expect(refusal).toBe('storage failed')
  expect(events.map(({ event }) => event)).toContain('server-found')
})
