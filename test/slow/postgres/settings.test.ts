// Settings of a role or a database for its sessions, which plantstore must not rely on.
import { expect } from 'bun:test'
import { hostname } from 'node:os'
import { connect } from '../../../src/engine/postgres/connection/hosts'
import { writeStatements } from '../../../src/engine/postgres/sql/apply-writes'
import { READ_PLACE, REMOVE_NOTHING } from '../../../src/engine/postgres/sql/change-log'
import { FIND_NONE } from '../../../src/engine/postgres/sql/tokens'
import type { PostgresServer } from '../../../tools/postgres/server'
import { onServers } from '../../harness/own-server'
import { roleStatements } from '../../harness/pgbouncer'
import { alterSystem, nameOf, newDatabase, openAt, targetOf } from '../../harness/postgres-store'
import { until } from '../../harness/until'

const open = (url: string) => connect(targetOf(url))

const CARELESS_SETTINGS = {
  application_name: 'other',
  synchronous_commit: 'off',
  statement_timeout: '100ms',
  lock_timeout: '100ms',
  idle_in_transaction_session_timeout: '100ms',
  idle_session_timeout: '100ms',
  default_transaction_isolation: 'serializable',
  client_encoding: 'LATIN1',
  array_nulls: 'off',
  standard_conforming_strings: 'off',
  transform_null_equals: 'on',
  exit_on_error: 'on',
}

/** A database whose new sessions have these settings, and one older session. */
async function databaseOf(server: PostgresServer, settings: Readonly<Record<string, string>>) {
  const url = await newDatabase(server)
  const name = nameOf(url)
  const before = await open(url)
  for (const [setting, value] of Object.entries(settings)) {
    await server.query(`ALTER DATABASE ${name} SET ${setting} = '${value}'`)
  }
  return {
    url,
    name,
    before,
    [Symbol.asyncDispose]: () => before.close(),
  }
}

const test = onServers('a session of %s')

test('compiles no statement of a commit', async (server) => {
  const url = await newDatabase(server)
  await (await openAt(url)).close()
  const { sql, close } = await open(url)
  const statements = [...writeStatements(sql), READ_PLACE, REMOVE_NOTHING, FIND_NONE]
  for (const [text, ...values] of statements) {
    const [row] = await sql.unsafe(`EXPLAIN (FORMAT JSON) ${text}`, values)
    expect(row['QUERY PLAN'][0]).toContainAllKeys(['Plan'])
  }
  await close()
})

test('has the required settings, whatever the role and the database say', async (server) => {
  const newer = server.installation.name === 'PostgreSQL 18' ? { transaction_timeout: '100ms' } : {}
  await using fixture = await databaseOf(server, { ...CARELESS_SETTINGS, ...newer })
  await server.query(`ALTER ROLE admin IN DATABASE ${fixture.name} SET synchronous_commit = local`)
  const names = Object.keys({ ...CARELESS_SETTINGS, ...newer })

  const connection = await open(fixture.url)
  const settings: Record<string, string>[] = await connection.sql.unsafe(
    `SELECT ${names.map((name) => `current_setting('${name}') AS ${name}`)}`,
  )
  await connection.close()

  expect(settings).toEqual([
    {
      ...Object.fromEntries(names.map((name) => [name, '0'])),
      application_name: `plantstore@${hostname()}`,
      lock_timeout: '3s',
      idle_in_transaction_session_timeout: '2s',
      synchronous_commit: 'on',
      default_transaction_isolation: 'read committed',
      client_encoding: 'UTF8',
      array_nulls: 'on',
      standard_conforming_strings: 'on',
      transform_null_equals: 'off',
      exit_on_error: 'off',
    },
  ])
})

test('keeps a stronger synchronous_commit, even if the server changes its own', async (server) => {
  await using fixture = await databaseOf(server, { synchronous_commit: 'remote_apply' })
  const connection = await open(fixture.url)
  await alterSystem(server, 'SET synchronous_commit = off')
  try {
    await until('a reload', async () => {
      const [row] = await server.query('SHOW synchronous_commit')
      return row?.synchronous_commit === 'off'
    })

    const [own] = await connection.sql.unsafe('SHOW synchronous_commit')
    expect(own).toEqual({ synchronous_commit: 'remote_apply' })
  } finally {
    await alterSystem(server, 'RESET synchronous_commit')
    await connection.close()
  }
})

test('with prepare=false accepts sufficient settings of the role, and refuses others', async (server) => {
  for (const statement of roleStatements()) await server.query(statement)
  for (const [setting, value, isRefused] of [
    ['synchronous_commit', 'off', true],
    ['synchronous_commit', 'local', true],
    ['synchronous_commit', 'remote_write', true],
    ['synchronous_commit', 'remote_apply', false],
    ['statement_timeout', '1min', true],
    ['default_transaction_isolation', 'serializable', true],
    ['array_nulls', 'off', true],
    ['transform_null_equals', 'on', true],
    ['enable_seqscan', 'on', false],
  ] as const) {
    await using fixture = await databaseOf(server, { [setting]: value })
    const ending = await open(`${fixture.url}?prepare=false`).then(
      (connection) => connection.close(),
      ({ message }: Error) => message,
    )
    if (isRefused)
      expect(ending).toContain(
        `${setting} is ${setting === 'statement_timeout' ? 60_000 : value}, not`,
      )
    else expect(ending).toBeUndefined()
  }
})
