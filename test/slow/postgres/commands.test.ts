import { expect, setDefaultTimeout, test } from 'bun:test'
import { SCHEMA_VERSION } from '../../../src/engine/postgres/schema'
import { freePort } from '../../../tools/free-port'
import { PASSWORD } from '../../../tools/postgres/server'
import {
  builtProgram,
  PATIENCE_MS,
  runProgram,
  startDaemon,
  temporaryFolder,
} from '../../harness/daemon'
import { describeServers } from '../../harness/own-server'

setDefaultTimeout(PATIENCE_MS)

const PROGRAM = builtProgram()
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

describeServers('the commands with %s', (startServer) => {
  const createDatabase = async (name: string) => (await startServer()).createDatabase(name)
  const runWith = (database: string, args: readonly string[], stdin?: string) =>
    runProgram(args, {
      program: PROGRAM,
      env: { PLANTSTORE_DATABASE: database },
      ...(stdin === undefined ? {} : { stdin }),
    })
  const importAll = (database: string, stdin: string) =>
    runWith(database, ['import', '-', '--format', 'ndjson'], stdin)

  test('move plants from a file to a server and back unchanged', async () => {
    using folder = temporaryFolder()
    const [from, to] = [folder.file('from.db'), folder.file('to.db')]
    const server = await createDatabase('moved')
    const text = hardPlants.join('')
    const created = `created ${hardPlants.length}, skipped 0, replaced 0, refused 0; ${hardPlants.length} rows read; 1 has an empty name\n`
    expect((await importAll(from, text)).out).toBe(created)

    const importResult = await importAll(server, (await runWith(from, ['export'])).out)
    expect(importResult).toEqual({ out: created, err: '', code: 0 })
    const exported = await runWith(server, ['export'])
    expect(exported.out).toBe(text)
    expect(exported.err).toBe(`exported ${hardPlants.length} plants\n`)
    const back = await importAll(to, exported.out)
    expect({ out: back.out, code: back.code }).toEqual({ out: created, code: 0 })
    expect((await runWith(to, ['export'])).out).toBe(text)

    const csv = (await runWith(server, ['export', '--format', 'csv'])).out
    expect(csv).toBe((await runWith(from, ['export', '--format', 'csv'])).out)
    expect((await runWith(server, ['check'])).out).toBe(
      `ok: ${hardPlants.length} plants, 0 tokens, schema version ${SCHEMA_VERSION}\n`,
    )
  })

  test('export one moment while others write', async () => {
    const server = await createDatabase('moment')
    await importAll(server, hardPlants.join(''))
    await using daemon = await startDaemon({
      program: PROGRAM,
      env: { PLANTSTORE_DATABASE: server },
    })
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
      const round = Array.from({ length: 5 }, () => runWith(server, ['export']))
      exports.push(...(await Promise.all(round)).map(({ out }) => out))
    }
    isDone = true
    await writing

    for (const out of exports) {
      const ids = [...out.matchAll(/^\{"id":(-?\d+),"name":"pair"\}$/gm)].map(([, id]) =>
        Number(id),
      )
      const above = ids.filter((id) => id > 0)
      expect(
        ids
          .filter((id) => id < 0)
          .map((id) => -id)
          .sort(),
      ).toEqual(above.sort())
    }
  })

  test('refuse a database without a plantstore, and create nothing there', async () => {
    const server = await createDatabase('blank')

    for (const args of [['check'], ['export'], ['token', 'list'], ['token', 'create', 'a']]) {
      const { out, err, code } = await runWith(server, args)
      expect({ out, code }).toEqual({ out: '', code: 1 })
      expect(err).toMatch(
        /^plantstore: user "admin" sees no plantstore in postgres:\/\/admin@[^ ]+\/blank; create it .+\n$/,
      )
    }
    const tables = await (await startServer()).query(
      "SELECT * FROM pg_tables WHERE schemaname = 'public'",
      'blank',
    )
    expect(tables).toHaveLength(0)
  })

  async function expectUnseen(url: string, args: readonly string[]): Promise<void> {
    const { err, code } = await runWith(url, args)
    expect(code).toBe(1)
    expect(err).toMatch(
      /^plantstore: user "weak" sees no plantstore in [^\n]+ check search_path and run GRANT USAGE[^\n]+\n$/,
    )
  }

  test('name the missing privilege and the GRANT for it', async () => {
    const server = await startServer()
    await server.query(`CREATE ROLE weak LOGIN PASSWORD '${PASSWORD}'`)
    await createDatabase('rights')
    await server.query('REVOKE CREATE ON SCHEMA public FROM PUBLIC', 'rights')
    const url = server.url('rights').replace('admin', 'weak')

    const { err, code } = await runWith(url, ['serve', '--port', '0'])

    expect(code).toBe(1)
    expect(err).toMatch(
      /^plantstore: cannot create the tables: .+ \(42501\); run GRANT CREATE.+\n$/,
    )
    // This user cannot see a plantstore, even if there is one.
    for (const args of [
      ['check'],
      ['export'],
      ['token', 'list'],
      ['token', 'create', 'a'],
      ['serve', '--port', '0', '--read-only'],
    ]) {
      await expectUnseen(url, args)
      await server.query('REVOKE USAGE ON SCHEMA public FROM PUBLIC', 'rights')
      await expectUnseen(url, args)
      await server.query('GRANT USAGE ON SCHEMA public TO PUBLIC', 'rights')
    }
    await importAll(server.url('rights'), hardPlants[0] ?? '')
    for (const args of [['check'], ['export'], ['token', 'list']]) {
      const refusal = await runWith(url, args)
      expect(refusal.code).toBe(1)
      expect(refusal.err).toMatch(/^plantstore: [^\n]*permission denied for table[^\n]*\n$/)
    }
  })

  test('find changes by another program with check', async () => {
    const server = await startServer()
    const url = await createDatabase('changed')
    await importAll(url, hardPlants.join(''))
    const change = (statement: string) => server.query(statement, 'changed')

    await change('DROP INDEX plants_by_tag')
    const changed = await runWith(url, ['check'])
    expect({ out: changed.out, code: changed.code }).toEqual({ out: '', code: 1 })
    expect(changed.err).toContain('/changed: index plants_by_tag is missing or invalid\n')
  })

  test('find a wrong number of plants with check, and name the fix', async () => {
    const url = await createDatabase('counted')
    await importAll(url, hardPlants.join(''))
    const server = await startServer()
    const plantCount = hardPlants.length + 2
    await server.query("INSERT INTO plants (id, name) VALUES (5000, 'a'), (5001, 'b')", 'counted')

    const { err, code } = await runWith(url, ['check'])

    expect(code).toBe(1)
    expect(err).toContain(
      `the recorded number of plants is ${plantCount - 2}, but ${plantCount} are stored`,
    )
    const [, recount = ''] = /are stored; to correct it, run (.*)\n/.exec(err) ?? []
    await server.query(recount, 'counted')
    expect((await runWith(url, ['check'])).out).toStartWith(`ok: ${plantCount} plants, `)
    await server.query('DELETE FROM plant_count', 'counted')
    const without = (await runWith(url, ['check'])).err
    const [, remedy = ''] = /table plant_count must have one row; run (.*)\n/.exec(without) ?? []
    await server.query(remedy, 'counted')
    await server.query(recount, 'counted')
    expect((await runWith(url, ['check'])).out).toStartWith(`ok: ${plantCount} plants, `)
  })

  test('find a plant missing from its index with check', async () => {
    const server = await startServer()
    const url = await createDatabase('torn')
    await importAll(url, hardPlants.join(''))
    const ready = (value: boolean) =>
      server.query(
        `UPDATE pg_index SET indisready = ${value} WHERE indexrelid = 'plants_pkey'::regclass`,
        'torn',
      )

    await ready(false)
    await server.query("INSERT INTO plants (id, name) VALUES (5000, 'lost')", 'torn')
    await ready(true)
    const { err, code } = await runWith(url, ['check'])

    expect(code).toBe(1)
    expect(err).toContain(
      `the table has ${hardPlants.length + 1} plants, its index ${hardPlants.length}; run REINDEX\n`,
    )
  })

  test('print a line for another token that works when pasted beside the same settings', async () => {
    using folder = temporaryFolder()
    const database = (await createDatabase('pasted')).replace(`:${PASSWORD}`, '')
    const file = folder.file("a gardener's password")
    await Bun.write(file, PASSWORD)
    const env = {
      PLANTSTORE_DATABASE: `${database}?connect_timeout=9&sslmode=disable`,
      PLANTSTORE_DATABASE_PASSWORD_FILE: file,
      PLANTSTORE_TOKEN: '',
    }
    await using daemon = await startDaemon({ program: PROGRAM, env })
    const find = () => /^to make another token: (.+)$/m.exec(daemon.out())?.[1]
    await daemon.prints(() => find() !== undefined)

    const creation = await runProgram([], { program: ['sh', '-c', find() ?? ''], env })

    expect({ err: creation.err, code: creation.code }).toEqual({
      err: 'Token laptop, shown only once:\n',
      code: 0,
    })
  })

  test('ignore other environment variables of PostgreSQL', async () => {
    const database = await createDatabase('quiet')
    await importAll(database, hardPlants[0] ?? '')
    const env = {
      PLANTSTORE_DATABASE: database,
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

    expect((await runProgram(['check'], { program: PROGRAM, env })).out).toBe(
      `ok: 1 plant, 0 tokens, schema version ${SCHEMA_VERSION}\n`,
    )
  })
})
