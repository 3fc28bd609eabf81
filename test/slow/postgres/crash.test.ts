// A server that crashes, or runs out of connections, during writes.

import { expect, setDefaultTimeout, test } from 'bun:test'
import { connect } from '../../../src/engine/postgres/connection/hosts'
import { startPostgres } from '../../../tools/postgres/server'
import { follow, replay } from '../../engine/change-log-contract'
import { PATIENCE_MS } from '../../harness/daemon'
import { describeServers } from '../../harness/own-server'
import { errorOf, type Logged, newDatabase, openAt, targetOf } from '../../harness/postgres-store'
import { allPlants } from '../../harness/tested-store'
import { until } from '../../harness/until'

setDefaultTimeout(2 * PATIENCE_MS)

const CLIENTS = 32

describeServers('a crash of %s', (_, installation) => {
  test('loses no acknowledged plant under load, nor its entry in the change log', async () => {
    await using server = await startPostgres(installation)
    const store = await openAt(await newDatabase(server), [], 1e9)
    const acknowledgedIds: number[] = []
    let next = 1
    let isOver = false
    const client = async () => {
      while (!isOver) {
        const id = next
        next += 1
        if ((await errorOf(store.createPlant({ id: BigInt(id), name: 'n' }))) === null)
          acknowledgedIds.push(id)
      }
    }
    const clients = Array.from({ length: CLIENTS }, client)

    for (const round of [1, 2]) {
      await until('creates', () => acknowledgedIds.length > round * 1000)
      // Like "pg_ctl stop -m immediate".
      await server.stop('SIGQUIT')
      await server.start()
    }
    await until('creates after the crashes', () => acknowledgedIds.length > 3000)
    isOver = true
    await Promise.all(clients)

    const plants = await allPlants(store)
    const storedIds = new Set(plants.map(({ id }) => Number(id)))
    expect(acknowledgedIds.filter((id) => !storedIds.has(id))).toEqual([])
    expect(replay(await follow(store))).toEqual(plants)
    await store.close()
  })

  test('is survived once other clients free the connections that they took', async () => {
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
