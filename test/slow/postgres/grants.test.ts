// docs/scaling.md: the least privileges of a role that serves.

import { expect } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkServer } from '../../../src/engine/postgres/check'
import type { PostgresServer } from '../../../tools/postgres/server'
import { root } from '../../harness/daemon'
import { onServers } from '../../harness/own-server'
import { makeRole } from '../../harness/plain-role'
import { type Logged, openAt, targetOf } from '../../harness/postgres-store'
import { range } from '../../harness/tested-store'
import { until } from '../../harness/until'

const GRANTS = readFileSync(join(root, 'docs/scaling.md'), 'utf8').match(/^GRANT .*;$/gm) ?? []
const TOKEN = {
  name: 'laptop',
  hash: 'h',
  scope: 'write',
  createdAt: 1,
  expiresAt: null,
  revokedAt: null,
  lastUsedAt: null,
} as const

/** The URL of a role with these privileges on the tables of another. */
async function prepare(server: PostgresServer, grants: readonly string[]): Promise<string> {
  const { admin, url, query } = await makeRole(server)
  await (await openAt(admin, [], 1000)).close()
  for (const grant of grants) await query(grant.replace('gardener', '$role'))
  return url
}

const test = onServers('the documented privileges of a role in %s')

test('are enough to serve', async (server) => {
  const url = await prepare(server, GRANTS)
  const events: Logged[] = []
  const store = await openAt(url, events)

  await store.createPlants(range(1, 3))
  await store.createPlant({ id: 9n, name: 'nine' })
  await store.patchPlant(1n, { tag: 'x' })
  await store.deletePlant(2n)
  await store.createToken(TOKEN)
  store.recordUse(TOKEN, 5)
  await store.revokeToken(TOKEN.name, 2)
  await store.pruneTokens(3)
  await until('entries to be removed', async () => (await store.changeLog?.stats())?.entries === 0)
  await store.probe()

  expect(events.filter(({ event }) => event !== 'changes-removed')).toEqual([])
  await store.close()
  expect(await checkServer(targetOf(url))).toMatchObject({ problems: [] })
})

test.each(GRANTS.map((grant) => [grant]))('are all needed: %s', async (server, grant) => {
  const others = GRANTS.filter((other) => other !== grant)
  const url = await prepare(server, others)

  const findings = await checkServer(targetOf(url)).catch((error) => ({
    problems: [String(error)],
    warnings: [],
  }))

  expect(JSON.stringify(findings)).toContain('permission denied')
})
