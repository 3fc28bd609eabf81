import { Database } from 'bun:sqlite'
import { expect, spyOn, test } from 'bun:test'
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { openStore } from '../../src/engine/engine'
import { commandUser, storeOwner } from '../../src/engine/store-user'
import { tryLock } from '../../src/files/libc'
import { createLog } from '../../src/log'
import { issueToken } from '../../src/token/token'
import { temporaryFolder } from '../harness/daemon'
import { testedToken } from '../harness/tested-store'
import { until } from '../harness/until'
import { testStore } from './store-contract'

const log = createLog(() => {}, 'json', Date.now)
const open = (path: string) =>
  openStore(
    path,
    storeOwner(log, () => {}),
  )

testStore('SQLite', async () => {
  const folder = temporaryFolder()
  const path = folder.file('plants.db')
  let store = await open(path)
  return {
    store,
    async reopen() {
      await store.close()
      store = await open(path)
      return store
    },
    async [Symbol.asyncDispose]() {
      await store.close()
      folder[Symbol.dispose]()
    },
  }
})

test('changes of tokens by another process take effect at once', async () => {
  using folder = temporaryFolder()
  const store = await open(folder.file('plants.db'))
  const other = await openStore(folder.file('plants.db'), commandUser({ makesDatabase: false }))
  const token = testedToken('x')
  const { hash } = token
  expect(await store.findToken(hash)).toBeNull()

  await other.createToken(token)
  await Bun.sleep(0)
  expect(await store.findToken(hash)).toEqual(token)

  await other.revokeToken('x', 2)
  await Bun.sleep(0)
  expect(await store.findToken(hash)).toEqual({ ...token, revokedAt: 2 })
  await other.close()
  await store.close()
})

test('a token is committed at once, although reads of the same turn share a transaction', async () => {
  using folder = temporaryFolder()
  const store = await open(folder.file('plants.db'))
  const { token } = issueToken('laptop', 'read', null, 0)

  const read = store.readPlant(1n)
  await store.createToken(token)

  using other = new Database(folder.file('plants.db'), { readonly: true })
  expect(other.query('SELECT name FROM tokens').values()).toEqual([['laptop']])
  expect(await read).toBeNull()
  await store.close()
})

test('a store that is closed at once leaves no file beside it', async () => {
  using folder = temporaryFolder()
  for (let stores = 1; stores <= 20; stores++) {
    await (await open(folder.file(`${stores}.db`))).close()
    expect(readdirSync(folder.path)).toHaveLength(stores)
  }
})

test('a closed store refuses changes and reads', async () => {
  using folder = temporaryFolder()
  const store = await open(folder.file('plants.db'))
  await store.close()

  const plant = { id: 1n, name: 'late' }
  await expect(store.createPlant(plant)).rejects.toHaveProperty('error', 'storage failed')
  await expect(store.readPlant(1n)).rejects.toMatchObject({
    error: 'storage failed',
    message: 'cannot read from the database',
  })
})

test('a daemon that starts while another program writes logs this, and writes later', async () => {
  using folder = temporaryFolder()
  const path = folder.file('plants.db')
  await (await open(path)).close()
  const other = new Database(path)
  other.run('BEGIN IMMEDIATE')
  const events: unknown[] = []

  const store = await openStore(
    path,
    storeOwner(
      (level, event, fields) => events.push({ level, event, ...fields }),
      () => {},
    ),
  )
  await until('the event', () => events.length > 0)
  other.run('ROLLBACK')
  other.close(true)

  expect(events).toEqual([
    { level: 'error', event: 'database-locked', detail: 'SQLITE_BUSY database is locked' },
  ])
  await store.createPlant({ id: 1n, name: 'Rose' })
  expect(await store.countPlants()).toBe(1)
  await store.close()
})

test('a probe writes nothing, no matter how old the last change is', async () => {
  using folder = temporaryFolder()
  const path = folder.file('plants.db')
  const store = await open(path)
  await store.createPlant({ id: 1n, name: 'Rose' })
  const log = () => Bun.hash(readFileSync(`${path}-wal`))
  const before = log()
  const later = performance.now() + 3_600_000
  const clock = spyOn(performance, 'now').mockImplementation(() => later)

  expect(await store.probe()).toBe('ok')
  clock.mockRestore()
  await Bun.sleep(1200)
  expect(log()).toBe(before)
  await store.close()
})

test('a command pauses before each commit only if a daemon serves', async () => {
  using folder = temporaryFolder()
  const path = folder.file('plants.db')
  const store = await openStore(path, commandUser({ makesDatabase: true }))
  const served = openSync(path, 'r')
  const pauses = spyOn(Bun, 'sleep')

  await store.createPlant({ id: 1n, name: 'Rose' })
  expect(pauses).not.toHaveBeenCalled()
  expect(tryLock(served)).toBeTrue()
  for (const id of [2n, 3n]) await store.createPlant({ id, name: 'Rose' })
  expect(pauses).toHaveBeenCalledTimes(2)

  pauses.mockRestore()
  await store.close()
  closeSync(served)
})
