// Stopping a daemon before its store is open.
import { expect } from 'bun:test'
import { CREATION_LOCK } from '../../../src/engine/postgres/schema'
import { startProgram } from '../../harness/daemon'
import { onServers } from '../../harness/own-server'
import { beginOther, newDatabase, openAt, untilLockWaits } from '../../harness/postgres-store'

const test = onServers('a start with %s')

test.each([
  ['waits for another that creates the tables', `SELECT pg_advisory_xact_lock(${CREATION_LOCK})`],
  ['begins a change log, and waits for a table', 'LOCK TABLE lanes'],
])('that %s ends at SIGTERM', async (server, _, lock) => {
  const url = await newDatabase(server)
  if (lock.startsWith('LOCK')) await (await openAt(url)).close()
  await using other = await beginOther(url, lock)
  const env = { PLANTSTORE_DATABASE: url }
  const args = ['serve', '--port', '0', '--keep-changes', '1d']
  await using daemon = startProgram(args, { env })
  await untilLockWaits(server.query)

  expect(await daemon.stop()).toBe(0)

  expect(daemon.err()).not.toContain('close-failed')
  expect(daemon.err().trimEnd()).toEndWith('"event":"stopped"}')
  await other.run('ROLLBACK')
  const store = await openAt(url)
  await store.createPlant({ id: 1n, name: 'Rose' })
  await store.close()
})
