import { expect } from 'bun:test'
import { connect as openSocket, type Socket } from 'node:net'
import { isInDoubt } from '../../../src/engine/postgres/connection/errors'
import { connect } from '../../../src/engine/postgres/connection/hosts'
import { addressOf, parsePostgresUrl } from '../../../src/engine/postgres/connection/url'
import { OpenError } from '../../../src/errors'
import { freePort } from '../../../tools/free-port'
import { PASSWORD, startPostgres } from '../../../tools/postgres/server'
import { temporaryFolder } from '../../harness/daemon'
import { onServers } from '../../harness/own-server'
import { targetOf } from '../../harness/postgres-store'
import { startProcess } from '../../harness/process'
import { until } from '../../harness/until'

const open = (url: string) => connect(targetOf(url))

/** The reason of a failed connection. */
async function refusal(url: string): Promise<string> {
  try {
    await (await open(url)).close()
    return 'connected'
  } catch (error) {
    expect(error).toBeInstanceOf(OpenError)
    const message = error instanceof Error ? error.message : ''
    expect(message).not.toMatch(/\n/)
    expect(message).not.toContain(PASSWORD)
    return message
  }
}

/** A port that accepts connections and never answers. */
function startSilent() {
  const server = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  return { port: server.port, [Symbol.dispose]: () => server.stop(true) }
}

/** A port that drops SYNs: its process is stopped, and its queue is full. */
async function startDeaf() {
  const script =
    'require("net").createServer().listen({host:"127.0.0.1",port:0,backlog:1},function(){console.log(this.address().port)})'
  const child = startProcess([process.execPath, '-e', script])
  await child.prints(() => child.out().endsWith('\n'))
  const port = Number(child.out())
  child.signal('SIGSTOP')
  const sockets: Socket[] = Array.from({ length: 4 }, () =>
    openSocket(port, '127.0.0.1').on('error', () => {}),
  )
  await Bun.sleep(50)
  return {
    port,
    async [Symbol.asyncDispose](): Promise<void> {
      for (const socket of sockets) socket.destroy()
      await child.kill()
    },
  }
}

const test = onServers('connecting to %s', {
  server: () => ({ settings: { max_connections: '12' } }),
})

test('fails with one line that names the reason', async (server) => {
  const port = freePort()
  const at = (host: string) => `cannot connect to PostgreSQL at ${host}: `
  const here = at(`127.0.0.1:${server.port}`)

  expect(await refusal(`postgres://u@127.0.0.1:${port}/n`)).toBe(
    `${at(`127.0.0.1:${port}`)}connection refused`,
  )
  expect(await refusal('postgres://u@nope.invalid/n')).toBe(
    `${at('nope.invalid:5432')}cannot resolve host nope.invalid (ENOTFOUND)`,
  )
  expect(await refusal('postgres://u@/n?host=/missing')).toBe(
    `${at('/missing/.s.PGSQL.5432')}nothing listens on this unix socket`,
  )
  expect(await refusal(server.url('nope'))).toBe(`${here}database "nope" does not exist (3D000)`)
  const message = `${here}password authentication failed for user "admin" (28P01)`
  expect(await refusal(`postgres://admin:wrong@127.0.0.1:${server.port}/postgres`)).toBe(message)
  expect(await refusal(`postgres://admin@127.0.0.1:${server.port}/postgres`)).toBe(
    `${message}; no password was given: set PLANTSTORE_DATABASE_PASSWORD_FILE or PGPASSWORD (~/.pgpass is not read)`,
  )
})

test('fails with one line if the server may lose data', async (server) => {
  await server.query("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0")
  await server.query("CREATE DATABASE bytes ENCODING 'SQL_ASCII' TEMPLATE template0")
  await server.query('CREATE DATABASE still')
  await server.query('ALTER DATABASE still SET default_transaction_read_only = on')
  await using unsafe = await startPostgres(server.installation, { settings: { fsync: 'off' } })

  expect(await refusal(server.url('latin'))).toEndWith(': server_encoding is LATIN1, not UTF8')
  expect(await refusal(server.url('bytes'))).toContain('is SQL_ASCII')
  expect(await refusal(server.url('still'))).toEndWith('read-only, like a standby')
  expect(await refusal(unsafe.url())).toEndWith(': fsync is off, not on')
})

test('reads the password file for each connection', async (server) => {
  using folder = temporaryFolder()
  const databasePasswordFile = folder.file('password')
  await Bun.write(databasePasswordFile, `${PASSWORD}\n`)
  await server.query(`CREATE ROLE rotated LOGIN PASSWORD '${PASSWORD}'`)
  const target = parsePostgresUrl(server.url().replace(`admin:${PASSWORD}`, 'rotated'), {
    databasePassword: null,
    databasePasswordFile,
  })

  await (await connect(target)).close()
  await server.query("ALTER ROLE rotated PASSWORD 'another'")
  await expect(connect(target)).rejects.toThrow(
    'password authentication failed for user "rotated" (28P01)',
  )
  await Bun.write(databasePasswordFile, 'another')
  await (await connect(target)).close()
})

test('uses the schema of the URL', async (server) => {
  await server.query('CREATE SCHEMA garden')

  const connection = await open(`${server.url()}?search_path=garden`)
  const [row] = await connection.sql`SELECT current_schema() AS name`
  await connection.close()

  expect(row).toEqual({ name: 'garden' })
})

test('works through a unix socket', async (server) => {
  const { folder, port } = server
  const user = `postgres://admin:${PASSWORD}@`

  for (const url of [
    `${user}/postgres?host=${folder}/socket&port=${port}`,
    `${user}${encodeURIComponent(`${folder}/socket`)}:${port}/postgres`,
  ]) {
    const connection = await open(url)
    expect(addressOf(connection.host)).toBe(`${folder}/socket/.s.PGSQL.${port}`)
    await connection.close()
  }
})

test('uses the first host that accepts writes', async (server) => {
  await using standby = await startPostgres(server.installation, {
    settings: { default_transaction_read_only: 'on' },
  })
  using silent = startSilent()
  await using deaf = await startDeaf()
  const hosts = [silent, deaf, { port: freePort() }, standby].map((at) => `127.0.0.1:${at.port}`)
  const urlOf = (all: readonly string[]) =>
    `postgres://admin:${PASSWORD}@${all.join(',')}/postgres?connect_timeout=1`

  const connection = await open(urlOf([...hosts, `127.0.0.1:${server.port}`]))
  expect(addressOf(connection.host)).toBe(`127.0.0.1:${server.port}`)
  await connection.close()

  const reasons = ['no answer within 1 s', 'no answer within 1 s', 'connection refused']
  expect(await refusal(urlOf(hosts))).toBe(
    `cannot connect to PostgreSQL at ${[...reasons, 'read-only, like a standby']
      .map((reason, index) => `${hosts[index]}: ${reason}`)
      .join('; ')}`,
  )
})

test('drops a connection whose query misses its deadline, without cancelling the query', async (server) => {
  await server.query('CREATE TABLE slow (n int)')
  const connection = await open(server.url())

  const error = await connection
    .ask((sql) => sql`WITH s AS (SELECT pg_sleep(1)) INSERT INTO slow SELECT 1 FROM s`, 200)
    .catch((thrown: unknown) => thrown)

  expect(isInDoubt(error)).toBeTrue()
  expect(connection.isLost).toBeTrue()
  await expect(connection.sql`SELECT 1`.then(() => 'answered')).rejects.toThrow()
  const rows = () => server.query('SELECT * FROM slow')
  expect(await until('the row', async () => (await rows()).length)).toBe(1)
})

test('never replaces a lost session', async (server) => {
  const connection = await open(server.url())
  const [row] = await connection.sql<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`
  const waiting = connection.sql`SELECT pg_sleep(60)`.catch((error: unknown) => error)
  await server.query(`SELECT pg_terminate_backend(${row?.pid})`)

  expect(isInDoubt(await waiting)).toBeTrue()
  expect(connection.isLost).toBeTrue()
  await expect(connection.sql`SELECT 1`.then(() => 'answered')).rejects.toThrow()
})
