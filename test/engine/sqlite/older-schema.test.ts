import { Database } from 'bun:sqlite'
import { expect, setDefaultTimeout, test } from 'bun:test'
import { ENTRY_BYTES } from '../../../src/engine/sqlite/file/change-log-row'
import { applyMigrations, SCHEMA_VERSION } from '../../../src/engine/sqlite/file/migrations'
import { readDatabase } from '../../../src/engine/sqlite/read-only/read'
import { countPlants } from '../../../src/engine/sqlite/reading/plants'
import { fingerprint } from '../../harness/commands'
import { PATIENCE_MS, runProgram, temporaryFolder } from '../../harness/daemon'

setDefaultTimeout(PATIENCE_MS)

const CHANGE_LOG_SINCE = 5
const COUNT_SINCE = 6
const CREATED = '2024-02-01T00:00:00.000Z'

/** A database of two plants and a token, with a change log if its schema has one. */
function makeDatabase(path: string, version: number): Database {
  const db = new Database(path)
  db.run('PRAGMA journal_mode = WAL')
  applyMigrations(db, 0, version)
  db.run(`PRAGMA user_version = ${version}`)
  db.run('PRAGMA wal_checkpoint')
  const at = Date.parse(CREATED)
  db.run(
    "INSERT INTO plants (id, name, tag) VALUES (1, 'Fern', 'shade'), (9007199254740993, 'Ivy', NULL)",
  )
  db.run("INSERT INTO tokens (name, hash, scope, created_at) VALUES ('laptop', 'h', 'write', ?)", [
    at,
  ])
  if (version < CHANGE_LOG_SINCE) return db
  db.run("UPDATE change_log SET log = '00000000000000ff', keep_ms = 1000, last = 1")
  db.run("INSERT INTO changes (number, at, action, plant, after) VALUES (1, ?, 'create', 1, ?)", [
    at,
    '{"name":"Fern","tag":"shade"}',
  ])
  db.run(`UPDATE change_log SET bytes = (SELECT ${ENTRY_BYTES} FROM changes)`)
  const counts = db.query("SELECT name FROM pragma_table_info('change_log') WHERE name = 'plants'")
  if (counts.get()) db.run('UPDATE change_log SET plants = 2')
  else if (version >= COUNT_SINCE) db.run('UPDATE plant_count SET plants = 2')
  return db
}

const versions = Array.from({ length: SCHEMA_VERSION }, (_, index) => index + 1)
const cases = versions.map((version) => [version, version % 2 === 0 ? 'in use' : 'closed'] as const)

test.each(cases)(
  'reading commands read a database of schema %d that is %s, and leave it as it is',
  async (version, state) => {
    using folder = temporaryFolder()
    using copies = temporaryFolder()
    const database = folder.file('plants.db')
    using db = makeDatabase(database, version)
    if (state === 'closed') db.close(true)
    const before = fingerprint(folder.path)
    const run = async (...words: string[]) => {
      const { code, out, err } = await runProgram([...words, '--database', database])
      return { code, out, err: err.replace('plantstore: ', '') }
    }

    expect(await run('export')).toEqual({
      code: 0,
      out: '{"id":1,"name":"Fern","tag":"shade"}\n{"id":9007199254740993,"name":"Ivy"}\n',
      err: 'exported 2 plants\n',
    })
    expect(await run('check')).toEqual({
      code: 0,
      out: `ok: 2 plants, 1 token, schema version ${version}\n`,
      err: '',
    })
    expect(await run('backup', copies.file('copy.db'))).toMatchObject({ code: 0, err: '' })
    const tokens = await run('token', 'list', '--json')
    expect(JSON.parse(tokens.out)).toEqual([
      {
        name: 'laptop',
        scope: 'write',
        state: 'valid',
        createdAt: CREATED,
        lastUsedAt: null,
        expiresAt: null,
        revokedAt: null,
      },
    ])
    const changes = await run('changes')
    if (version < CHANGE_LOG_SINCE) {
      expect(changes).toMatchObject({ code: 1, out: '' })
      expect(changes.err).toStartWith('no change log is kept')
    } else {
      expect(changes).toMatchObject({ code: 0, err: '' })
      expect(JSON.parse(changes.out)).toMatchObject({ action: 'create', id: 1, at: CREATED })
    }
    expect(fingerprint(folder.path)).toEqual(before)
    const counted = await readDatabase(database, 'repeatable', countPlants)
    expect(counted).toBe(version < CHANGE_LOG_SINCE ? null : 2)
  },
)
