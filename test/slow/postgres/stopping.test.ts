// Stopping a daemon before its store is open.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { connect } from '../../../src/engine/postgres/connecting/hosts'
import { builtProgram, PATIENCE_MS, startProgram } from '../../harness/daemon'
import { describeServers } from '../../harness/own-server'
import { newDatabase, openAt, targetOf } from '../../harness/postgres-store'
import { until } from '../../harness/until'

setDefaultTimeout(PATIENCE_MS)

const BACK_TO_FOUR = `
  ALTER TABLE change_log DROP COLUMN id;
  ALTER TABLE plant_count DROP COLUMN id;
  ALTER TABLE changes DROP COLUMN mark;
  DROP TABLE change_log_start;
  UPDATE plantstore_schema SET version = 4`

describeServers('a start with %s', (startServer) => {
  test.each([
    ['migrates, and waits for a table', BACK_TO_FOUR],
    ['begins a change log, and waits for a table', ''],
  ])('that %s ends at SIGTERM', async (_, before) => {
    const server = await startServer()
    const url = await newDatabase(server)
    await (await openAt(url)).close()
    if (before !== '') await server.query(before, url)
    const { sql, close } = await connect(targetOf(url))
    await sql.unsafe('BEGIN; LOCK TABLE lanes')
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
