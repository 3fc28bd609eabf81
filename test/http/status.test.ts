// GET /status: the state of the service.
import { expect, test } from 'bun:test'
import packageJson from '../../package.json'
import type { Status } from '../../src/client/types'
import { startDaemon, TOKEN } from '../harness/daemon'
import { ownDaemon } from '../harness/own-daemon'
import { until } from '../harness/until'

const { daemon, folder, createToken } = ownDaemon()
// The database of test/slow/postgres/http.test.ts.
const isServer = Boolean(Bun.env.PLANTSTORE_TEST_DATABASE)

test('GET /status gives any token the version, the plants and that it can write', async () => {
  await daemon.create(1)
  const reader = await createToken('reader', '--scope', 'read')

  const headers = { authorization: `Bearer ${reader}` }
  const response = await fetch(`${daemon.url}/status`, { headers })
  expect(response.status).toBe(200)
  expect(response.headers.get('cache-control')).toBe('no-store')
  const { commit } = await daemon.event('listening')
  const { uptimeSeconds, ...rest } = (await response.json()) as { uptimeSeconds: number }
  expect(uptimeSeconds).toBeWithin(0, 600)
  expect(rest).toEqual({
    version: packageJson.version,
    commit,
    engine: isServer ? 'postgresql' : 'sqlite',
    database: isServer ? 'postgres' : 'plants.db',
    plants: 1,
    readOnly: false,
    writable: true,
    problem: null,
    replica: null,
    damaged: false,
    lastBackup: null,
    changeLog: null,
    followers: 0,
  } as never)
})

test('GET /status has the last backup, the change log and its followers', async () => {
  const backups = isServer ? [] : ['--backup-folder', folder.path]
  const args = ['--keep-changes', '1d', ...backups]
  await using logged = await startDaemon({ database: folder.file('logged.db'), args })
  const before = Date.now()
  await logged.create(1)
  const headers = { accept: 'text/event-stream', authorization: `Bearer ${TOKEN}` }
  const stream = await fetch(`${logged.url}/plants/changes`, { headers })
  const read = async () => (await (await logged.fetch('/status')).json()) as Status

  await until('a backup', async () => isServer || (await read()).lastBackup !== null)
  const { changeLog, lastBackup, followers } = await read()
  // Otherwise garbage collection may end it before.
  await stream.body?.cancel()
  expect(followers).toBe(1)
  if (!changeLog?.oldest) throw new Error('it has an entry')
  expect(changeLog).toEqual({
    entries: 1,
    bytes: expect.any(Number),
    oldest: expect.any(String),
    keepSeconds: 86_400,
  })
  expect(Math.abs(Date.parse(changeLog.oldest) - before)).toBeLessThan(60_000)
  expect(lastBackup === null).toBe(isServer)
  if (!lastBackup) return
  expect(Math.abs(Date.parse(lastBackup.at) - before)).toBeLessThan(60_000)
  expect(lastBackup.ageSeconds).toBeWithin(0, 60)
})
