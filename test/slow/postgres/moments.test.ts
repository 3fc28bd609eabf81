// A write of several plants takes effect at one moment, whatever other processes commit meanwhile.

import { expect, setDefaultTimeout } from 'bun:test'
import type { PostgresServer } from '../../../tools/postgres/server'
import { PATIENCE_MS } from '../../harness/daemon'
import { onServers } from '../../harness/own-server'
import {
  beginOther,
  errorOf,
  newDatabase,
  openAt,
  untilLockWaits,
} from '../../harness/postgres-store'

setDefaultTimeout(2 * PATIENCE_MS)

const LILY = { id: 18n, name: 'lily' }
const ROSE = { id: 20n, name: 'rose' }

/** A store with plant 20, and another session that has deleted it, created plant 18, and not committed yet. */
async function openBesideMove(server: PostgresServer) {
  const url = await newDatabase(server)
  const store = await openAt(url)
  await store.createPlant(ROSE)
  const moving = `DELETE FROM plants WHERE id = 20; INSERT INTO plants VALUES (18, 'rose')`
  const other = await beginOther(url, moving)
  // Opened first, because a write waits only briefly for a lock.
  const watcher = await beginOther(url, '')
  return {
    store,
    /** Commits once a write of the store waits for it. */
    async commit() {
      await untilLockWaits(watcher.run)
      await other.run('COMMIT')
    },
    async [Symbol.asyncDispose]() {
      for (const session of [watcher, other]) await session[Symbol.asyncDispose]()
      await store.close()
    },
  }
}

const test = onServers('while another session in %s exchanges two plants,')

test('a batch of deletes sees one moment', async (server) => {
  await using fixture = await openBesideMove(server)

  const [deletion] = await Promise.all([fixture.store.deletePlants([LILY, ROSE]), fixture.commit()])

  expect(deletion).toEqual({ deleted: 0, conflicts: [18n], missing: [20n] })
})

test('a batch of creates with one of them is refused', async (server) => {
  await using fixture = await openBesideMove(server)

  const writes = [
    fixture.store.createPlants([LILY, { id: 19n, name: 'iris' }]),
    fixture.store.deletePlant(18n),
    fixture.store.replacePlant(ROSE),
  ].map(errorOf)
  await fixture.commit()

  expect(await Promise.all(writes)).toEqual(['taken', null, 'no such plant'])
  expect(await fixture.store.readPlant(19n)).toBeNull()
})
