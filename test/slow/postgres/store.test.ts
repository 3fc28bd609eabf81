// The contract of a store in PostgreSQL, and several processes in one database.
import { expect } from 'bun:test'
import { engineOf, openStore } from '../../../src/engine/engine'
import { checkServer } from '../../../src/engine/postgres/check'
import { commandUser } from '../../../src/engine/store-user'
import { messageOf } from '../../../src/errors'
import type { Plant } from '../../../src/plant/plant'
import type { Store } from '../../../src/store'
import { hashToken, type Token } from '../../../src/token/token'
import { testStore } from '../../engine/store-contract'
import { onServers, onVersions } from '../../harness/own-server'
import {
  beginOther,
  errorOf,
  NO_SECRETS,
  newDatabase,
  openAt,
  openTested,
  targetOf,
} from '../../harness/postgres-store'
import { allPlants, range } from '../../harness/tested-store'
import { until } from '../../harness/until'

const TOKEN: Token = {
  name: 'x',
  hash: hashToken('secret'),
  scope: 'read',
  createdAt: 1,
  expiresAt: null,
  revokedAt: null,
  lastUsedAt: null,
}

const test = onServers('a store in %s')

onVersions('a store in %s')('meets its contract', ({ installation, startServer }) =>
  testStore(installation.name, async () => openTested(await startServer())),
)

test('is created once by processes that start at the same time', async (server) => {
  const url = await newDatabase(server)

  const stores = await Promise.all(Array.from({ length: 6 }, () => openAt(url)))

  await stores[0]?.createPlant({ id: 1n, name: 'Rose' })
  for (const store of stores) expect(await allPlants(store)).toHaveLength(1)
  for (const store of stores) await store.close()
})

test('counts the plants of running, stopped and long gone processes', async (server) => {
  const url = await newDatabase(server)
  const query = (text: string) => server.query(text, url)
  const stores = await Promise.all(Array.from({ length: 3 }, () => openAt(url)))
  const [one, ...others] = stores
  await Promise.allSettled(
    stores.flatMap((store, place) => [
      ...range(0, 100).map((plant) => store.createPlant(plant)),
      store.createPlants(range(1000 * (place + 1), 50)),
      ...range(0, 20).map(({ id }) => store.deletePlant(id + BigInt(20 * place))),
    ]),
  )
  const plantCount = (await allPlants(one as Store)).length
  for (const store of stores) expect(await store.countPlants()).toBe(plantCount)

  await query(`UPDATE lanes SET seen_at = now() - interval '31 days'`)
  const last = await openAt(url)
  expect(await last.countPlants()).toBe(plantCount)
  await last.createPlant({ id: -1n, name: 'Rose' })
  await Promise.all(others.map((store) => store.close()))

  // Its row was removed while the process was idle.
  await (one as Store).createPlant({ id: -2n, name: 'Lily' })
  expect(await (one as Store).countPlants()).toBe(plantCount + 2)
  await Promise.all([one?.close(), last.close()])
  expect(await query('SELECT count(*)::int AS lanes FROM lanes')).toEqual([{ lanes: 0 }])
  expect(await engineOf(url).check(url, NO_SECRETS)).toMatchObject({
    plants: plantCount + 2,
    problems: [],
    wrongRecords: [],
  })
})

test('refuses writes of a command that connected before a newer plantstore migrated it', async (server) => {
  const url = await newDatabase(server)
  await (await openAt(url)).close()
  const store = await openStore(url, commandUser({ makesDatabase: false }))
  await server.query('UPDATE plantstore_schema SET version = version + 1', url)

  const reason = await store.createPlant({ id: 1n, name: 'Rose' }).then(() => 'made', messageOf)

  expect(reason).toContain('newer plantstore')
  const idsInDatabase = await server.query('SELECT id FROM plants', url)
  expect(idsInDatabase).toHaveLength(0)
  await store.close().catch(() => {})
})

test('refuses tables of another program', async (server) => {
  const url = await newDatabase(server)
  await server.query('CREATE TABLE plants (id int)', url)

  expect(openAt(url)).rejects.toThrow(
    'cannot create the tables: relation "plants" already exists (42P07)',
  )
})

test('refuses a token in one process once another has revoked it', async (server) => {
  const url = await newDatabase(server)
  const [one, other] = await Promise.all([openAt(url), openAt(url)])
  expect(await one.findToken(TOKEN.hash)).toBeNull()
  await other.createToken(TOKEN)
  expect(await one.findToken(TOKEN.hash)).toEqual(TOKEN)
  let isRevoked = false
  const accepted: boolean[] = []
  const lookUps = (async () => {
    while (accepted.length < 10) {
      const wasRevoked = isRevoked
      const found = await one.findToken(TOKEN.hash)
      if (wasRevoked) accepted.push(found?.revokedAt === null)
      await Bun.sleep(5)
    }
  })()

  expect(await other.revokeToken('x', 2)).toBeTrue()
  isRevoked = true

  await lookUps
  expect(accepted).not.toContain(true)
  await one.close()
  await other.close()
})

test('lets exactly one of many processes create a plant', async (server) => {
  const url = await newDatabase(server)
  const stores = await Promise.all(Array.from({ length: 3 }, () => openAt(url)))
  const attempts = range(0, 200).flatMap((plant) =>
    stores.map(async (store, index) => {
      const ownPlant: Plant = { ...plant, name: `by ${index}` }
      // A batch, a patch or a delete reaches the same rows by other statements.
      if (index === 0 && plant.id % 3n === 0n) return store.createPlants([ownPlant])
      return store.createPlant(ownPlant)
    }),
  )

  const results = await Promise.allSettled(attempts)

  const [first] = stores
  const storedPlants = first ? await allPlants(first) : []
  expect(storedPlants).toHaveLength(200)
  for (const [index, plant] of storedPlants.entries()) {
    const outcomes = results.slice(index * 3, index * 3 + 3)
    const creators = outcomes.flatMap((outcome, process) =>
      outcome.status === 'fulfilled' ? [process] : [],
    )
    expect(creators).toHaveLength(1)
    expect(plant.name).toBe(`by ${creators[0]}`)
    const refusals = outcomes.flatMap((outcome) =>
      outcome.status === 'rejected' ? [outcome.reason.error] : [],
    )
    expect(refusals).toEqual(['taken', 'taken'])
  }
  for (const store of stores) await store.close()
})

test('refuses a taken id during REINDEX CONCURRENTLY', async (server) => {
  const url = await newDatabase(server)
  const store = await openAt(url)
  const exists = async (query: string) => (await server.query(query, url)).length > 0
  // The old index stays, under another name, while another session uses the table.
  const reader = await beginOther(url, 'SELECT FROM plants')
  const reindex = server.query('REINDEX INDEX CONCURRENTLY plants_pkey', url)
  await until('the new index', () =>
    exists(`SELECT FROM pg_class WHERE relname = 'plants_pkey_ccold'`),
  )
  const { problems } = await checkServer(targetOf(url))
  const inserting = `INSERT INTO plants (id, name) VALUES (1, 'theirs')`
  await using writer = await beginOther(url, inserting)

  const error = errorOf(store.createPlants([{ id: 1n, name: 'mine' }]))
  await until('a waiting transaction', () =>
    exists(`SELECT FROM pg_locks WHERE locktype = 'transactionid' AND NOT granted`),
  )
  await writer.run('COMMIT')

  expect(await error).toBe('taken')
  expect(problems).toEqual([])
  await reader[Symbol.asyncDispose]()
  await reindex
  await store.close()
})
