import { expect } from 'bun:test'
import { SCHEMA_VERSION } from '../../../src/engine/postgres/schema'
import { freePort } from '../../../tools/free-port'
import { PASSWORD } from '../../../tools/postgres/server'
import { runProgram, startDaemon, temporaryFolder } from '../../harness/daemon'
import { onServers } from '../../harness/own-server'
import { refusalOn, runOn } from '../../harness/postgres-store'

const LEAST = '-9223372036854775808'
const MOST = '9223372036854775807'

/** Plants with difficult ids, names and tags, as an export writes them. */
const hardPlants = [
  `{"id":${LEAST},"name":"least","tag":""}`,
  '{"id":-1,"name":""}',
  '{"id":0,"name":"\\u0001\\t\\"\\\\\u007f"}',
  ...Array.from({ length: 2500 }, (_, index) => `{"id":${index + 1},"name":"plant ${index + 1}"}`),
  '{"id":9007199254740993,"name":"Αλόη 🌱 e\u0301 \u{10FFFF}","tag":"sub-tropical, \\"dry\\""}',
  `{"id":${MOST},"name":"most","tag":"t"}`,
].map((line) => `${line}\n`)

const test = onServers('the commands with %s')

const importAll = (database: string, stdin: string) =>
  runOn(database, ['import', '-', '--format', 'ndjson'], { stdin })

test('move plants from a file to a server and back unchanged', async (server) => {
  using folder = temporaryFolder()
  const [from, to] = [folder.file('from.db'), folder.file('to.db')]
  const url = await server.createDatabase('moved')
  const text = hardPlants.join('')
  const created = `created ${hardPlants.length}, skipped 0, replaced 0, refused 0; ${hardPlants.length} rows read; 1 has an empty name\n`
  expect((await importAll(from, text)).out).toBe(created)

  const importResult = await importAll(url, (await runOn(from, ['export'])).out)
  expect(importResult).toEqual({ out: created, err: '', code: 0 })
  const exported = await runOn(url, ['export'])
  expect(exported.out).toBe(text)
  expect(exported.err).toBe(`exported ${hardPlants.length} plants\n`)
  const back = await importAll(to, exported.out)
  expect({ out: back.out, code: back.code }).toEqual({ out: created, code: 0 })
  expect((await runOn(to, ['export'])).out).toBe(text)

  const csv = (await runOn(url, ['export', '--format', 'csv'])).out
  expect(csv).toBe((await runOn(from, ['export', '--format', 'csv'])).out)
  expect((await runOn(url, ['check'])).out).toBe(
    `ok: ${hardPlants.length} plants, 0 tokens, schema version ${SCHEMA_VERSION}\n`,
  )
})

test('export one moment while others write', async (server) => {
  const url = await server.createDatabase('moment')
  await importAll(url, hardPlants.join(''))
  await using daemon = await startDaemon({ env: { PLANTSTORE_DATABASE: url } })
  let isDone = false
  let next = 1_000_000
  const writing = (async () => {
    while (!isDone) {
      // One commit creates each pair: any moment has both or none.
      const plants = [next, -next].map((id) => ({ id, name: 'pair' }))
      await daemon.fetch('/plants/batch', { json: { plants } })
      next += 1
    }
  })()
  const exports: string[] = []
  // Until some pairs were created during the exports, however slow the machine.
  while (exports.length === 0 || next < 1_000_010) {
    const round = Array.from({ length: 5 }, () => runOn(url, ['export']))
    exports.push(...(await Promise.all(round)).map(({ out }) => out))
  }
  isDone = true
  await writing

  for (const out of exports) {
    const ids = [...out.matchAll(/^\{"id":(-?\d+),"name":"pair"\}$/gm)].map(([, id]) => Number(id))
    const above = ids.filter((id) => id > 0)
    expect(
      ids
        .filter((id) => id < 0)
        .map((id) => -id)
        .sort(),
    ).toEqual(above.sort())
  }
})

test('refuse a database without a plantstore, and create nothing there', async (server) => {
  const url = await server.createDatabase('blank')

  for (const args of [['check'], ['export'], ['token', 'list'], ['token', 'create', 'a']]) {
    expect(await refusalOn(url, args)).toMatch(
      /: user "admin" sees no plantstore in postgres:\/\/admin@[^ ]+\/blank; create it /,
    )
  }
  const tables = await server.query("SELECT * FROM pg_tables WHERE schemaname = 'public'", 'blank')
  expect(tables).toHaveLength(0)
})

test('name the missing privilege and the GRANT for it', async (server) => {
  await server.query(`CREATE ROLE weak LOGIN PASSWORD '${PASSWORD}'`)
  await server.createDatabase('rights')
  await server.query('REVOKE CREATE ON SCHEMA public FROM PUBLIC', 'rights')
  const url = server.url('rights').replace('admin', 'weak')

  expect(await refusalOn(url, ['serve', '--port', '0'])).toMatch(
    /: cannot create the tables: .+ \(42501\); run GRANT CREATE/,
  )
  const unseen = /: user "weak" sees no plantstore in .+ check search_path and run GRANT USAGE/
  // This user cannot see a plantstore, even if there is one.
  for (const args of [
    ['check'],
    ['export'],
    ['token', 'list'],
    ['token', 'create', 'a'],
    ['serve', '--port', '0', '--read-only'],
  ]) {
    expect(await refusalOn(url, args)).toMatch(unseen)
    await server.query('REVOKE USAGE ON SCHEMA public FROM PUBLIC', 'rights')
    expect(await refusalOn(url, args)).toMatch(unseen)
    await server.query('GRANT USAGE ON SCHEMA public TO PUBLIC', 'rights')
  }
  await importAll(server.url('rights'), hardPlants[0] ?? '')
  for (const args of [['check'], ['export'], ['token', 'list']]) {
    expect(await refusalOn(url, args)).toContain('permission denied for table')
  }
})

test('find changes by another program with check', async (server) => {
  const url = await server.createDatabase('changed')
  await importAll(url, hardPlants.join(''))
  const change = (statement: string) => server.query(statement, 'changed')

  await change('DROP INDEX plants_by_tag')
  const changed = await runOn(url, ['check'])
  expect({ out: changed.out, code: changed.code }).toEqual({ out: '', code: 1 })
  expect(changed.err).toContain('/changed: index plants_by_tag is missing or invalid\n')
})

test('find a wrong number of plants with check, and name the fix', async (server) => {
  const url = await server.createDatabase('counted')
  await importAll(url, hardPlants.join(''))
  const plantCount = hardPlants.length + 2
  await server.query("INSERT INTO plants (id, name) VALUES (5000, 'a'), (5001, 'b')", 'counted')

  const { err, code } = await runOn(url, ['check'])

  expect(code).toBe(1)
  expect(err).toContain(
    `the recorded number of plants is ${plantCount - 2}, but ${plantCount} are stored`,
  )
  const [, recount = ''] = /are stored; to correct it, run (.*)\n/.exec(err) ?? []
  await server.query(recount, 'counted')
  expect((await runOn(url, ['check'])).out).toStartWith(`ok: ${plantCount} plants, `)
  await server.query('DELETE FROM plant_count', 'counted')
  expect((await runOn(url, ['check'])).err).toContain('is not recorded once; export the plants')
})

test('find a plant missing from its index with check', async (server) => {
  const url = await server.createDatabase('torn')
  await importAll(url, hardPlants.join(''))
  const ready = (value: boolean) =>
    server.query(
      `UPDATE pg_index SET indisready = ${value} WHERE indexrelid = 'plants_pkey'::regclass`,
      'torn',
    )

  await ready(false)
  await server.query("INSERT INTO plants (id, name) VALUES (5000, 'lost')", 'torn')
  await ready(true)
  const { err, code } = await runOn(url, ['check'])

  expect(code).toBe(1)
  expect(err).toContain(
    `the table has ${hardPlants.length + 1} plants, its index ${hardPlants.length}; run REINDEX\n`,
  )
})

test('print a line for another token that works when pasted beside the same settings', async (server) => {
  using folder = temporaryFolder()
  const database = (await server.createDatabase('pasted')).replace(`:${PASSWORD}`, '')
  const file = folder.file("a gardener's password")
  await Bun.write(file, PASSWORD)
  const env = {
    PLANTSTORE_DATABASE: `${database}?connect_timeout=9&sslmode=disable`,
    PLANTSTORE_DATABASE_PASSWORD_FILE: file,
    PLANTSTORE_TOKEN: '',
  }
  await using daemon = await startDaemon({ env })
  const find = () => /^to make another token: (.+)$/m.exec(daemon.out())?.[1]
  await daemon.prints(() => find() !== undefined)

  const creation = await runProgram([], { program: ['sh', '-c', find() ?? ''], env })

  expect({ err: creation.err, code: creation.code }).toEqual({
    err: 'Token laptop, shown only once:\n',
    code: 0,
  })
})

test('ignore other environment variables of PostgreSQL', async (server) => {
  const database = await server.createDatabase('quiet')
  await importAll(database, hardPlants[0] ?? '')
  const env = {
    PGHOST: 'nope.invalid',
    PGPORT: String(freePort()),
    PGUSER: 'nobody',
    PGUSERNAME: 'nobody',
    USER: 'nobody',
    PGDATABASE: 'nope',
    PGPASSWORD: 'wrong',
    PGSSLMODE: 'require',
    PGOPTIONS: '-c synchronous_commit=off',
    PGAPPNAME: 'other',
    PGTARGETSESSIONATTRS: 'standby',
    PGSERVICE: 'nope',
    DATABASE_URL: 'mysql://nope.invalid/x',
    POSTGRES_URL: 'postgres://nope.invalid/x',
    TLS_DATABASE_URL: 'postgres://nope.invalid/x',
  }

  expect((await runOn(database, ['check'], { env })).out).toBe(
    `ok: 1 plant, 0 tokens, schema version ${SCHEMA_VERSION}\n`,
  )
})
