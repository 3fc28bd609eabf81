// Tables and triggers that other programs altered, which may discard or change what is stored.
import { Database } from 'bun:sqlite'
import { expect, setDefaultTimeout, test } from 'bun:test'
import { openStore } from '../../../src/engine/engine'
import { commandUser } from '../../../src/engine/store-user'
import { check, expectSound, lines, storeFolder } from '../../harness/commands'
import { type Daemon, PATIENCE_MS, temporaryFolder } from '../../harness/daemon'
import { OTHER_COLUMNS } from '../../harness/fields'
import { storedPlants } from '../../harness/plants'
import { until } from '../../harness/until'

setDefaultTimeout(PATIENCE_MS)

const IGNORE_UPDATES =
  'CREATE TRIGGER frozen BEFORE UPDATE ON plants BEGIN SELECT RAISE(IGNORE); END'
const NAMED = `trigger "frozen" on plants is not plantstore's; drop it`

const healthOf = async (daemon: Daemon): Promise<string> => (await daemon.fetch('/health')).text()

test('a trigger that is added while the daemon serves stops writes, but not reads, until it is dropped', async () => {
  using folder = storeFolder()
  const { database } = folder
  await using daemon = await folder.serve({ args: ['--keep-changes', '1d'] })
  await daemon.create(1)
  await daemon.create(2, 'Lily')
  const before = storedPlants(database)
  folder.edit(`${IGNORE_UPDATES};
     CREATE TRIGGER kept BEFORE DELETE ON plants BEGIN SELECT RAISE(IGNORE); END`)

  const responses = await Promise.all([
    daemon.create(3, 'Fern'),
    daemon.fetch('/plants/1', { method: 'PUT', json: { name: 'Peony' } }),
    daemon.fetch('/plants/1', { method: 'PATCH', json: { tag: 'red' } }),
    daemon.fetch('/plants/1', { method: 'DELETE' }),
    daemon.fetch('/plants/batch-delete', { json: { plants: [{ id: 2, name: 'Lily' }] } }),
  ])

  for (const response of responses) {
    expect(response.status).toBe(503)
    expect(await response.json()).toEqual({ error: 50302, message: `nothing was stored: ${NAMED}` })
  }
  expect(await healthOf(daemon)).toContain('"frozen')
  expect((await daemon.fetch('/plants/1')).status).toBe(200)
  expect(storedPlants(database)).toEqual(before)
  expect(await daemon.event('cannot-write')).toMatchObject({ level: 'error', detail: NAMED })

  folder.edit('DROP TRIGGER frozen; DROP TRIGGER kept')
  await daemon.event('writable-again')
  expect((await daemon.fetch('/plants/1', { method: 'DELETE' })).status).toBe(204)
  expect(await daemon.stop()).toBe(0)
  await expectSound(database, 1)
})

test('a daemon that starts on a database with a trigger only reads, and names the trigger', async () => {
  using folder = storeFolder()
  await folder.fill(3)
  folder.edit(IGNORE_UPDATES)
  await using daemon = await folder.serve()

  expect(await daemon.event('cannot-write')).toMatchObject({ detail: NAMED })
  expect(await healthOf(daemon)).toContain('frozen')
  expect((await daemon.fetch('/plants/1')).status).toBe(200)
  expect((await daemon.create(9, 'Fern')).status).toBe(503)
  folder.edit('DROP TRIGGER frozen')
  await until('the daemon to write', async () => (await daemon.fetch('/health')).status === 200)
  expect((await daemon.create(9, 'Fern')).status).toBe(200)
})

test.each([
  ['import', ['-', '--format', 'ndjson'], 74],
  ['token', ['create', 'phone'], 74],
])('%s does not write to a database with a trigger, and names it', async (command, args, code) => {
  using folder = storeFolder()
  const { database } = folder
  await folder.fill(3)
  folder.edit(IGNORE_UPDATES)

  const run = await folder.run([command, ...args], {
    stdin: lines(3, 5),
  })

  expect(run.code).toBe(code)
  expect(run.out + run.err).toContain(NAMED)
  expect((await check(database)).err).toContain(NAMED)
  expect(storedPlants(database)).toHaveLength(3)
})

test('a trigger on any table stops plants and tokens from being written', async () => {
  using folder = temporaryFolder()
  const database = folder.file('plants.db')
  const store = await openStore(database, commandUser({ makesDatabase: true }))
  using other = new Database(database)
  const tables = other.query(`SELECT name FROM sqlite_schema WHERE type = 'table'`).values().flat()
  expect(tables).toHaveLength(4)

  for (const table of tables) {
    const name = String(table).toUpperCase()
    other.run(`CREATE TRIGGER spy AFTER DELETE ON ${name} BEGIN DELETE FROM plants; END`)
    const message = `cannot write to the database: trigger "spy" on ${table} is not plantstore's; drop it`
    const refusal = { error: 'storage failed', message }
    await expect(store.createPlant({ id: 1n, name: 'Rose' })).rejects.toMatchObject(refusal)
    await expect(store.revokeToken('phone', 0)).rejects.toMatchObject(refusal)
    other.run('DROP TRIGGER spy')
  }

  expect(await store.countPlants()).toBe(0)
  await store.createPlant({ id: 1n, name: 'Rose' })
  await store.close()
})

test.each([
  `CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag INTEGER${OTHER_COLUMNS})`,
  `CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE ON CONFLICT IGNORE, tag TEXT${OTHER_COLUMNS}) STRICT`,
])(
  'a table of plants that may change or discard written values stops all writes: %s',
  async (sql) => {
    using folder = storeFolder()
    const { database } = folder
    await using daemon = await folder.serve()
    await daemon.create(1, 'Rose', '7')
    folder.edit(
      `ALTER TABLE plants RENAME TO old; ${sql}; INSERT INTO plants SELECT * FROM old; DROP TABLE old;`,
    )
    const before = storedPlants(database)

    const response = await daemon.create(2, 'Rose', '12')

    expect(response.status).toBe(503)
    expect(await response.json()).toEqual({
      error: 50302,
      message: 'nothing was stored: table plants was changed or removed',
    })
    expect(storedPlants(database)).toEqual(before)
  },
)
