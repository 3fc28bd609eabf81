// Databases restored, copied or replicated with PostgreSQL's tools, and cursors of their other history.
import { expect } from 'bun:test'
import { cpSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Store } from '../../../src/store'
import { startPostgres } from '../../../tools/postgres/server'
import { follow } from '../../engine/change-log-contract'
import { temporaryFolder } from '../../harness/daemon'
import { onInstallations, onServers, type TestedServer } from '../../harness/own-server'
import { errorOf, newDatabase, openAt } from '../../harness/postgres-store'
import { runWell } from '../../harness/process'

const openKeeping = (url: string): Promise<Store> => openAt(url, [], 1e9)

const endOf = async ({ changeLog }: Store): Promise<string> =>
  (await changeLog?.read({ after: 'now', limit: 1 }))?.next ?? ''

const readAfter = (store: Store, after: string) =>
  errorOf(store.changeLog?.read({ after, limit: 9 }) ?? Promise.reject(new Error('no change log')))

/** Opens a store like a daemon, writes and stops. Resolves to the last cursor of its change log. */
async function write(url: string, ids: readonly bigint[]): Promise<string> {
  const store = await openKeeping(url)
  for (const id of ids) await store.createPlant({ id, name: 'n' })
  const end = await endOf(store)
  await store.close()
  return end
}

async function expectOtherHistory(url: string, common: string, lostCursor: string): Promise<void> {
  const store = await openKeeping(url)
  for (const id of [5n, 6n, 7n]) await store.createPlant({ id, name: 'n' })
  expect(await readAfter(store, lostCursor)).toBe('cursor expired')
  expect((await follow(store, common)).map(({ id }) => id)).toEqual([5n, 6n, 7n])
  await store.close()
}

const SUBJECT = 'the change log in %s'
const testTools = onServers(SUBJECT, { needs: 'pg_restore' })
const testAlone = onInstallations(SUBJECT)

/** Runs a client program of a server's version. */
const run = ({ installation }: TestedServer, name: string, ...args: readonly string[]) =>
  runWell([join(installation.bin, name), ...args])

testTools(
  'refuses cursors from after the dump, once pg_restore --clean has run',
  async (server) => {
    using folder = temporaryFolder()
    const dump = folder.file('dump')
    const url = await newDatabase(server)
    const common = await write(url, [1n, 2n])
    await run(server, 'pg_dump', '--format=custom', '--file', dump, url)
    const lostCursor = await write(url, [3n, 4n])

    await run(server, 'pg_restore', '--clean', '--dbname', url, dump)

    await expectOtherHistory(url, common, lostCursor)
  },
)

testTools('refuses the cursors of another database from the same dump', async (server) => {
  using folder = temporaryFolder()
  const dump = folder.file('dump')
  const url = await newDatabase(server)
  const other = await newDatabase(server)
  const common = await write(url, [1n, 2n])
  await run(server, 'pg_dump', '--format=custom', '--file', dump, url)
  await run(server, 'pg_restore', '--dbname', other, dump)
  const [lostCursor, foreign] = [await write(url, [3n]), await write(other, [4n])]

  await expectOtherHistory(other, foreign, lostCursor)
  const store = await openKeeping(url)
  expect(await readAfter(store, foreign)).toBe('cursor expired')
  expect((await follow(store, common)).map(({ id }) => id)).toEqual([3n])
  await store.close()
})

testAlone('refuses cursors from after a base backup that was restored', async (installation) => {
  await using server = await startPostgres(installation)
  const data = join(server.folder, 'data')
  const url = await server.createDatabase('plants')
  const common = await write(url, [1n, 2n])
  await server.stop()
  cpSync(data, `${data}.backup`, { recursive: true, preserveTimestamps: true })
  await Bun.$`chown -R --reference ${data} ${data}.backup`.quiet()
  await server.start()
  const lostCursor = await write(url, [3n, 4n])
  await server.stop()
  rmSync(data, { recursive: true })
  renameSync(`${data}.backup`, data)
  await server.start()

  await expectOtherHistory(url, common, lostCursor)
})
