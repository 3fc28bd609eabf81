// The last use of tokens: written once per token and hour, whatever the load.
import { expect, spyOn, test } from 'bun:test'
import { createUseRecorder } from '../../src/engine/commit/last-use'
import { openStore } from '../../src/engine/engine'
import { Writer } from '../../src/engine/sqlite/writer'
import { storeOwner } from '../../src/engine/store-user'
import { createMetrics } from '../../src/metrics'
import { RequestError } from '../../src/request-errors'
import { issueToken, type Token } from '../../src/token/token'
import { temporaryFolder } from '../harness/daemon'
import { configuredToken, serveStore } from '../harness/service'

const HOUR = 3_600_000
const START = Date.UTC(2026, 10, 22, 12)

const stored = (name: string): Token => issueToken(name, 'read', null, START).token

/** The whole service but for the clock, and the uses of tokens that were written to its database. */
async function startService() {
  const folder = temporaryFolder()
  const log = () => {}
  const metrics = createMetrics()
  const store = await openStore(folder.file('plants.db'), storeOwner(log, metrics.countCommit))
  const clock = { now: START }
  const token = configuredToken('configured-token')
  const { url, end } = serveStore(store, {
    metrics,
    now: () => clock.now,
    configuredToken: () => token,
  })
  const commits = spyOn(Writer.prototype, 'commit')
  return {
    store,
    clock,
    metrics,
    request: async (token: string, method = 'GET') => {
      const headers = { authorization: `Bearer ${token}` }
      return (await fetch(`${url}/plants/1`, { method, headers })).status
    },
    // A change of a plant becomes durable after the writes submitted before it.
    async uses() {
      await store.deletePlant(1n).catch(() => {})
      return commits.mock.calls
        .flatMap(([batch]) => batch)
        .filter((write) => write.kind === 'recordUse')
        .map(({ hash, hour }) => ({ hash, hour }))
    },
    async [Symbol.asyncDispose]() {
      await end()
      commits.mockRestore()
      await store.close()
      folder[Symbol.dispose]()
    },
  }
}

test('a million uses in a minute cost one write, even if one fails in between', () => {
  const writes: [string, number][] = []
  const record = createUseRecorder((hash, hour) => {
    writes.push([hash, hour])
    return Promise.reject(new RequestError('storage failed'))
  })
  const token = stored('laptop')

  for (let use = 0; use < 1_000_000; use++) record(token, START + (use % 60_000))
  record(token, START + HOUR - 1)
  expect(writes).toEqual([[token.hash, START]])

  record(token, START + HOUR)
  record({ ...token, lastUsedAt: START + HOUR }, START + HOUR + 1)
  // A clock that is set back writes nothing older.
  record({ ...token, lastUsedAt: START + HOUR }, START)
  expect(writes.slice(1)).toEqual([[token.hash, START + HOUR]])
})

test('a token with too narrow a scope counts as used, an expired or revoked one does not', async () => {
  await using service = await startService()
  const { store, request } = service
  const expired = issueToken('expired', 'read', 1000, START - 1000)
  const revoked = issueToken('revoked', 'read', null, START)
  const reader = issueToken('reader', 'read', null, START)
  for (const { token } of [expired, revoked, reader]) await store.createToken(token)
  await store.revokeToken('revoked', START)

  expect(await request(expired.text)).toBe(401)
  expect(await request(revoked.text)).toBe(401)
  expect(await request('configured-token')).toBe(404)
  expect(await service.uses()).toEqual([])
  expect(await request(reader.text, 'DELETE')).toBe(403)
  expect(await service.uses()).toEqual([{ hash: reader.token.hash, hour: START }])
})

test('the commits of last uses are not counted', async () => {
  await using service = await startService()
  const { store, metrics, request } = service
  const { text, token } = issueToken('laptop', 'read', null, START)
  await store.createToken(token)

  await request(text)

  expect(await service.uses()).toHaveLength(1)
  expect(metrics.render(store.stats())).toContain('\nplantstore_commit_changes_total 0\n')
  await store.createPlant({ id: 2n, name: 'Rose' })
  expect(metrics.render(store.stats())).toContain('\nplantstore_commit_changes_total 1\n')
})
