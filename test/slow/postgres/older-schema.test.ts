import { expect, setDefaultTimeout, test } from 'bun:test'
import {
  MIGRATION_STATEMENTS,
  SCHEMA_VERSION,
} from '../../../src/engine/postgres/schema/migrations'
import { builtProgram, PATIENCE_MS, runProgram } from '../../harness/daemon'
import { describeServers } from '../../harness/own-server'
import { newDatabase } from '../../harness/postgres-store'

setDefaultTimeout(PATIENCE_MS)

const PROGRAM = builtProgram()
const CHANGE_LOG_SINCE = 3
const COUNT_SINCE = 4
const CREATED = '2024-02-01T00:00:00.000Z'
const AT = Date.parse(CREATED)

/** Two plants and a token, with a change log if the schema has one. */
const contentOf = (version: number): readonly string[] => [
  ...MIGRATION_STATEMENTS.slice(0, version).map(([text]) => String(text)),
  'CREATE TABLE plantstore_schema (version integer PRIMARY KEY)',
  `INSERT INTO plantstore_schema VALUES (${version})`,
  "INSERT INTO plants VALUES (1, 'Fern', 'shade'), (9007199254740993, 'Ivy', NULL)",
  `INSERT INTO tokens (name, hash, scope, created_at) VALUES ('laptop', 'h', 'write', ${AT})`,
  ...(version < COUNT_SINCE ? [] : ['UPDATE plant_count SET plants = 2']),
  ...(version < CHANGE_LOG_SINCE
    ? []
    : [
        "UPDATE change_log SET log = '00000000000000ff', keep_ms = 1000, last = 1",
        `INSERT INTO changes (number, at, action, plant, after)
         VALUES (1, ${AT}, 'create', 1, '{"name":"Fern","tag":"shade"}')`,
      ]),
]

const WHOLE = `SELECT (SELECT version FROM plantstore_schema) AS version,
  (SELECT string_agg(table_name || '.' || column_name, ' ' ORDER BY table_name, column_name)
   FROM information_schema.columns WHERE table_schema = 'public') AS columns`

const VERSIONS = Array.from({ length: SCHEMA_VERSION }, (_, index) => index + 1)

describeServers('reading commands with %s', (startServer) => {
  test.each(VERSIONS)('read a database of schema %d, and leave it unchanged', async (version) => {
    const server = await startServer()
    const url = await newDatabase(server)
    for (const statement of contentOf(version)) await server.query(statement, url)
    const [before] = await server.query(WHOLE, url)
    const run = (...words: string[]) =>
      runProgram(words, { program: PROGRAM, env: { PLANTSTORE_DATABASE: url } })

    expect(await run('export')).toEqual({
      code: 0,
      out: '{"id":1,"name":"Fern","tag":"shade"}\n{"id":9007199254740993,"name":"Ivy"}\n',
      err: 'exported 2 plants\n',
    })
    const tokens = await run('token', 'list', '--json')
    expect(JSON.parse(tokens.out)).toMatchObject([{ name: 'laptop', createdAt: CREATED }])
    const changes = await run('changes')
    if (version < CHANGE_LOG_SINCE) {
      expect(changes).toMatchObject({ code: 1, out: '' })
      expect(changes.err).toStartWith('plantstore: no change log is kept')
    } else {
      expect(changes).toMatchObject({ code: 0, err: '' })
      expect(JSON.parse(changes.out)).toMatchObject({ action: 'create', id: 1, at: CREATED })
    }
    expect(await run('check')).toEqual({
      code: 0,
      out: `ok: 2 plants, 1 token, schema version ${version}\n`,
      err: '',
    })
    const [after] = await server.query(WHOLE, url)
    expect(after).toEqual(before)
  })
})
