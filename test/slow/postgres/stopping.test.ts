// Stopping a daemon before its store is open.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { connect } from '../../../src/engine/postgres/connection/hosts'
import { CREATION_LOCK } from '../../../src/engine/postgres/schema'
import { builtProgram, PATIENCE_MS, startProgram } from '../../harness/daemon'
import { describeServers } from '../../harness/own-server'
import { newDatabase, openAt, targetOf } from '../../harness/postgres-store'
import { until } from '../../harness/until'

setDefaultTimeout(PATIENCE_MS)

describeServers('a start with %s', (startServer) => {
  test.each([
    ['waits for another that creates the tables', `SELECT pg_advisory_xact_lock(${CREATION_LOCK})`],
    ['begins a change log, and waits for a table', 'LOCK TABLE lanes'],
  ])('that %s ends at SIGTERM', async (_, lock) => {
    const server = await startServer()
    const url = await newDatabase(server)
    if (lock.startsWith('LOCK')) await (await openAt(url)).close()
    const { sql, close } = await connect(targetOf(url))
    await sql.unsafe(`SET idle_in_transaction_session_timeout = 0; BEGIN; ${lock}`)
    const env = { PLANTSTORE_DATABASE: url }
    const args = ['serve', '--port', '0', '--keep-changes', '1d']
    await using daemon = startProgram(args, { program: builtProgram(), env })
    const waiting = 'SELECT FROM pg_locks WHERE NOT granted'
    await until('a waiting lock', async () => (await server.query(waiting, url)).length)

    expect(await daemon.stop()).toBe(0)

    expect(daemon.err()).not.toContain('close-failed')
    expect(daemon.err().trimEnd()).toEndWith('"event":"stopped"}')
    await sql.unsafe('ROLLBACK')
    await close()
    const store = await openAt(url)
    await store.createPlant({ id: 1n, name: 'Rose' })
    await store.close()
  })
})
