// Stores in databases of a test's PostgreSQL server.

import { expect } from 'bun:test'
import { SQL } from 'bun'
import type { KeepChanges } from '../../src/change-log/change-log'
import type { DatabaseSecrets } from '../../src/engine/database-url'
import { openStore } from '../../src/engine/engine'
import { type PostgresTarget, parsePostgresUrl } from '../../src/engine/postgres/connection/url'
import { storeOwner } from '../../src/engine/store-user'
import type { ErrorName } from '../../src/request-errors'
import type { Store } from '../../src/store'
import type { PostgresServer } from '../../tools/postgres/server'
import { startProxy } from './cuttable'
import { type RunOptions, runProgram } from './daemon'
import type { TestedStore } from './tested-store'
import { until } from './until'

export const NO_SECRETS: DatabaseSecrets = { databasePassword: null, databasePasswordFile: null }

export const targetOf = (url: string): PostgresTarget => parsePostgresUrl(url, NO_SECRETS)

/** A logged event of a store. */
export type Logged = { readonly event: string; readonly [field: string]: unknown }

/** Opens a store like a daemon. */
export const openAt = (
  url: string,
  events: Logged[] = [],
  keep: KeepChanges = null,
): Promise<Store> =>
  openStore(
    url,
    storeOwner(
      (_, event, fields) => events.push({ event, ...fields }),
      () => {},
      keep,
    ),
  )

/** The name of the error that a store rejects with; null if it resolves. */
export const errorOf = (request: Promise<unknown>): Promise<ErrorName | null> =>
  request.then(
    () => null,
    ({ error }) => error,
  )

let databases = 0

/** Makes an empty database; resolves to its URL. */
export function newDatabase(server: PostgresServer): Promise<string> {
  databases += 1
  return server.createDatabase(`plants_${databases}`)
}

/** The name of the database of a URL. */
export const nameOf = (url: string): string => url.slice(url.lastIndexOf('/') + 1)

/** The same URL with another port. */
export const atPort = (url: string, port: number): string => url.replace(/:\d+\//, `:${port}/`)

/** An empty store in a new database. */
export async function openTested(server: PostgresServer): Promise<TestedStore> {
  const url = await newDatabase(server)
  let store = await openAt(url)
  return {
    store,
    async reopen() {
      await store.close()
      store = await openAt(url)
      return store
    },
    [Symbol.asyncDispose]: () => store.close(),
  }
}

/** A store behind a proxy, with one plant. */
export async function openCuttable(server: PostgresServer, keep: KeepChanges = null) {
  const url = await newDatabase(server)
  const proxy = startProxy(server.port)
  const events: Logged[] = []
  const store = await openAt(atPort(url, proxy.port), events, keep)
  await store.createPlant({ id: 1n, name: 'one' })
  return {
    url,
    store,
    proxy,
    events,
    query: (statement: string) => server.query(statement, url),
    async [Symbol.asyncDispose](): Promise<void> {
      await store.close()
      proxy[Symbol.dispose]()
    },
  }
}

/** Resolves once a store creates a plant. */
export const untilCreated = (store: Store, id: bigint): Promise<unknown> =>
  until('a create', async () => !(await errorOf(store.createPlant({ id, name: 'created' }))))

/** Begins a transaction of another program, which rolls it back at the end of the block. */
export async function beginOther(url: string, statements: string) {
  const sql = new SQL({ adapter: 'postgres', url, tls: 'disable', max: 1 })
  const run = (more: string) => sql.unsafe(more).simple()
  await run(`SET idle_in_transaction_session_timeout = 0; BEGIN; ${statements}`)
  return { run, [Symbol.asyncDispose]: () => sql.close({ timeout: 0 }) }
}

/** Resolves once a session of a server waits for a lock, by queries on it. */
export const untilLockWaits = (query: (statement: string) => Promise<unknown[]>) =>
  until(
    'a waiting lock',
    async () => (await query('SELECT FROM pg_locks WHERE NOT granted')).length,
  )

/** Changes a setting of a server: `SET fsync = off`. */
export async function alterSystem(server: PostgresServer, change: string): Promise<void> {
  await server.query(`ALTER SYSTEM ${change}`)
  await server.query('SELECT pg_reload_conf()')
}

/** Terminates the sessions of every plantstore. */
export const terminateSessions = (server: PostgresServer): Promise<unknown> =>
  server.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'plantstore@%'`,
  )

/** Runs a command on a database. */
export const runOn = (url: string, args: readonly string[], options: RunOptions = {}) =>
  runProgram(args, { ...options, env: { PLANTSTORE_DATABASE: url, ...options.env } })

/** Expects that a command prints nothing and fails with one line, which it resolves to. */
export async function refusalOn(
  url: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<string> {
  const { out, err, code } = await runOn(url, args, options)
  expect({ args, out, code }).toEqual({ args, out: '', code: 1 })
  // Lines of the log may come before it or after it.
  expect(err.replaceAll(/^\{.*\n/gm, '')).toMatch(/^plantstore: [^\n]+\n$/)
  return err
}
