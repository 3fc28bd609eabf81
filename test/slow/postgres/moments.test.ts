// A write of several plants takes effect at one moment, whatever other processes commit meanwhile.

import { expect, setDefaultTimeout, test } from 'bun:test'
import { SQL } from 'bun'
import type { PostgresServer } from '../../../tools/postgres/server'
import { PATIENCE_MS } from '../../harness/daemon'
import { describeServers } from '../../harness/own-server'
import { errorOf, newDatabase, openAt } from '../../harness/postgres-store'
import { until } from '../../harness/until'

setDefaultTimeout(2 * PATIENCE_MS)

const LILY = { id: 18n, name: 'lily' }
const ROSE = { id: 20n, name: 'rose' }

const WAITING = `SELECT FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock'`

/** A store with plant 20, and another session that has deleted it, created plant 18, and not committed yet. */
async function openBesideMove(server: PostgresServer) {
  const url = await newDatabase(server)
  const store = await openAt(url)
  await store.createPlant(ROSE)
  const connect = () => new SQL({ adapter: 'postgres', url, tls: 'disable', max: 1 })
  const [other, watcher] = [connect(), connect()]
  // Opened first, because a write waits only briefly for a lock.
  await watcher.unsafe(WAITING)
  await other
    .unsafe(`BEGIN; DELETE FROM plants WHERE id = 20; INSERT INTO plants VALUES (18, 'rose')`)
    .simple()
  return {
    store,
    /** Commits once a write of the store waits for it. */
    async commit() {
      await until('a waiting lock', async () => (await watcher.unsafe(WAITING)).length)
      await other.unsafe('COMMIT').simple()
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([other.close({ timeout: 0 }), watcher.close({ timeout: 0 })])
      await store.close()
    },
  }
}

describeServers('while another session in %s exchanges two plants,', (startServer) => {
  test('a batch of deletes sees one moment', async () => {
    await using fixture = await openBesideMove(await startServer())

    const [deletion] = await Promise.all([
      fixture.store.deletePlants([LILY, ROSE]),
      fixture.commit(),
    ])

    expect(deletion).toEqual({ deleted: 0, conflicts: [18n], missing: [20n] })
  })

  test('a batch of creates with one of them is refused', async () => {
    await using fixture = await openBesideMove(await startServer())

    const writes = [
      fixture.store.createPlants([LILY, { id: 19n, name: 'iris' }]),
      fixture.store.deletePlant(18n),
      fixture.store.replacePlant(ROSE),
    ].map(errorOf)
    await fixture.commit()

    expect(await Promise.all(writes)).toEqual(['taken', null, 'no such plant'])
    expect(await fixture.store.readPlant(19n)).toBeNull()
  })
})
