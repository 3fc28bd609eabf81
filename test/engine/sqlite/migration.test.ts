// A database of an older version: it is copied beside itself before it is migrated.
import { Database } from 'bun:sqlite'
import { expect, setDefaultTimeout, test } from 'bun:test'
import {
  chownSync,
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  writeSync,
} from 'node:fs'
import { openStore } from '../../../src/engine/engine'
import { SCHEMA_VERSION } from '../../../src/engine/sqlite/file/migrations'
import { storeOwner as daemonRole, storeGuest } from '../../../src/engine/store-user'
import { messageOf } from '../../../src/errors'
import { tryLock } from '../../../src/files/libc'
import { fingerprint } from '../../harness/commands'
import { PATIENCE_MS, runProgram, startDaemon, temporaryFolder } from '../../harness/daemon'
import { plantsCounted } from '../../harness/plants'
import { testUid } from '../../harness/unprivileged'

setDefaultTimeout(PATIENCE_MS)

// The steps by which each version changed its predecessor's schema.
const steps = [
  `PRAGMA application_id = 0x706c6e74;
   CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT;
   CREATE TABLE tokens (
     name TEXT NOT NULL, hash TEXT NOT NULL PRIMARY KEY,
     scope TEXT NOT NULL CHECK (scope IN ('read', 'write')),
     created_at INTEGER NOT NULL, expires_at INTEGER, revoked_at INTEGER
   ) STRICT, WITHOUT ROWID;
   CREATE UNIQUE INDEX tokens_by_name ON tokens (name) WHERE revoked_at IS NULL;`,
  'CREATE INDEX plants_by_tag ON plants (tag, id) WHERE tag IS NOT NULL;',
]
const PLANTS = 5000

/** Makes a database as an older version would have closed it; returns the open connection. */
function makeOld(path: string, version: number): Database {
  const db = new Database(path)
  db.run('PRAGMA journal_mode = WAL')
  for (const sql of steps.slice(0, version)) db.run(sql)
  db.run(`PRAGMA user_version = ${version}`)
  db.run(
    `WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < ?) INSERT INTO plants SELECT value, 'plant ' || value, 'a' FROM n`,
    [PLANTS],
  )
  return db
}

const read = (path: string, sql: string): unknown[] => {
  const db = new Database(path, { readonly: true })
  try {
    return db.query(sql).values().flat()
  } finally {
    db.close(true)
  }
}
const versionOf = (path: string) => read(path, 'PRAGMA user_version')[0]
const countOf = (path: string) => read(path, 'SELECT count(*) FROM plants')[0]

const older = steps.map((_, index) => index + 1).filter((version) => version < SCHEMA_VERSION)

test.each(older)(
  'keeps a copy of a database of schema %i, and logs its migration',
  async (version) => {
    using folder = temporaryFolder()
    const database = folder.file('plants.db')
    const copy = `${database}.schema-${version}`
    makeOld(database, version).close(true)

    await using daemon = await startDaemon({ database })
    await daemon.create('{"id":9999,"name":"later"}')
    const migrated = await daemon.event('migrated')
    const check = await runProgram(['check', '--database', copy])

    expect(migrated).toMatchObject({ level: 'info', from: version, to: SCHEMA_VERSION, copy })
    expect(versionOf(database)).toBe(SCHEMA_VERSION)
    expect(await plantsCounted(daemon)).toBe(PLANTS + 1)
    expect(versionOf(copy)).toBe(version)
    expect(check.out).toStartWith(`ok: ${PLANTS} plants, `)
    expect(statSync(copy).mode & 0o777).toBe(0o600)
    expect(readdirSync(folder.path).sort()).toEqual(
      [
        'plants.db',
        'plants.db.reserve',
        `plants.db.schema-${version}`,
        'plants.db-shm',
        'plants.db-wal',
      ].sort(),
    )
  },
)

test.skipIf(testUid !== 0)(
  'gives the copy to the owner of the database when root migrates',
  async () => {
    using folder = temporaryFolder()
    const database = folder.file('plants.db')
    makeOld(database, 1).close(true)
    chownSync(database, 65_534, 65_533)

    await runProgram(['token', 'prune', '--database', database])

    const { uid, gid, mode } = statSync(`${database}.schema-1`)
    expect({ uid, gid, mode: mode & 0o777 }).toEqual({ uid: 65_534, gid: 65_533, mode: 0o600 })
  },
)

test.each(['token', 'import'])(
  'keeps a copy when it is the command %s that migrates',
  async (name) => {
    using folder = temporaryFolder()
    const database = folder.file('plants.db')
    makeOld(database, 1).close(true)

    const words = name === 'token' ? ['token', 'prune'] : ['import', '-', '--format', 'ndjson']
    const { code, err } = await runProgram([...words, '--database', database], { stdin: '' })

    expect(code).toBe(0)
    expect(err).toStartWith(
      `migrated the database from schema 1 to ${SCHEMA_VERSION}; it was copied to ${database}.schema-1\n`,
    )
    expect(versionOf(database)).toBe(SCHEMA_VERSION)
    expect(versionOf(`${database}.schema-1`)).toBe(1)
  },
)

test('does not migrate a database that an older daemon serves', async () => {
  using folder = temporaryFolder()
  const database = folder.file('plants.db')
  makeOld(database, 2).close(true)
  const served = openSync(database, 'r+')
  expect(tryLock(served)).toBeTrue()

  const { code, err } = await runProgram(['token', 'prune', '--database', database])
  closeSync(served)

  expect({ code, err }).toEqual({
    code: 1,
    err: `plantstore: an older plantstore is serving ${database}; restart it with this version first\n`,
  })
  expect(versionOf(database)).toBe(2)
  expect(existsSync(`${database}.schema-2`)).toBeFalse()
})

test('a migration ends the writes of a command of an older version', async () => {
  using folder = temporaryFolder()
  const database = folder.file('plants.db')
  const store = await openStore(database, storeGuest({ makesDatabase: true }))
  await store.createPlant({ id: 1n, name: 'before' })
  using db = new Database(database)
  db.run(`CREATE TABLE newer (x); PRAGMA user_version = ${SCHEMA_VERSION + 1}`)

  const reason = await store.createPlant({ id: 2n, name: 'after' }).then(() => 'made', messageOf)
  await store.close()

  expect(reason).toBe('cannot write to the database: a newer plantstore has migrated it')
  expect(countOf(database)).toBe(1)
})

test('copies the plants that only the WAL of a killed daemon has', async () => {
  using folder = temporaryFolder()
  const database = folder.file('plants.db')
  const script = `
    const { Database } = require('bun:sqlite')
    const db = new Database(${JSON.stringify(database)})
    db.run("INSERT INTO plants VALUES (10001, 'in the WAL', NULL)")
    process.kill(process.pid, 'SIGKILL')`
  makeOld(database, 1).close(true)
  Bun.spawnSync([process.execPath, '-e', script])
  expect(existsSync(`${database}-wal`)).toBe(true)

  await using daemon = await startDaemon({ database })
  await daemon.event('migrated')

  expect(countOf(`${database}.schema-1`)).toBe(PLANTS + 1)
})

test('replaces a copy of an earlier migration, which lacks what was written since', async () => {
  using folder = temporaryFolder()
  const database = folder.file('plants.db')
  const copy = `${database}.schema-1`
  makeOld(copy, 1).close(true)
  const db = makeOld(database, 1)
  db.run("INSERT INTO plants VALUES (10001, 'later', NULL)")
  db.close(true)

  const { code } = await runProgram(['token', 'prune', '--database', database])

  expect({ code, plants: countOf(copy) }).toEqual({ code: 0, plants: PLANTS + 1 })
})

test('makes no copy of a new database, nor of one of this version', async () => {
  using folder = temporaryFolder()
  const database = folder.file('plants.db')
  for (let starts = 0; starts < 2; starts++) {
    await using daemon = await startDaemon({ database })
    await daemon.stop()
    expect(daemon.events().map(({ event }) => event)).not.toContain('migrated')
  }
  expect(readdirSync(folder.path).sort()).toEqual(['plants.db', 'plants.db.reserve'])
})

test('stops copying when the process is told to stop, and migrates nothing', async () => {
  using folder = temporaryFolder()
  const database = folder.file('plants.db')
  makeOld(database, 1).close(true)
  const stopped = daemonRole(
    () => {},
    () => {},
    null,
    AbortSignal.abort(),
  )

  await expect(openStore(database, stopped)).rejects.toThrow('aborted')

  expect(readdirSync(folder.path)).toEqual(['plants.db'])
  expect(versionOf(database)).toBe(1)
})

test.each(['mkdir', 'mkfifo'])(
  'does not migrate a database that cannot be copied: %s',
  async (make) => {
    using folder = temporaryFolder()
    const database = folder.file('plants.db')
    makeOld(database, 1).close(true)
    // It has the name of the copy.
    expect(Bun.spawnSync([make, `${database}.schema-1`]).exitCode).toBe(0)
    const before = readFileSync(database)

    const { code, err } = await runProgram(['token', 'prune', '--database', database])

    expect(code).not.toBe(0)
    expect(err.trim().split('\n')).toHaveLength(1)
    expect(err).toStartWith(`plantstore: cannot copy ${database} before its migration: `)
    expect(readFileSync(database)).toEqual(before)
    expect(statSync(`${database}.schema-1`).isFile()).toBeFalse()
  },
)

test('does not migrate a damaged database', async () => {
  using folder = temporaryFolder()
  const database = folder.file('plants.db')
  makeOld(database, 1).close(true)
  writeSync(openSync(database, 'r+'), Buffer.alloc(4096, 0xa5), 0, 4096, 4096 * 6)
  const before = fingerprint(folder.path)

  const { code, err } = await runProgram(['serve', '--port', '0', '--database', database])

  expect({ code, lines: err.trim().split('\n').length }).toEqual({ code: 74, lines: 1 })
  expect(err).toContain('plants.db is damaged')
  expect(fingerprint(folder.path)['plants.db']).toBe(before['plants.db'] ?? '')
  expect(readdirSync(folder.path)).toEqual(['plants.db'])
})
