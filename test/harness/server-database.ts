// Runs tests that were written for a database file on PostgreSQL: if PLANTSTORE_TEST_DATABASE has the URL of a server,
// each path that a test names becomes a schema there.

import { PSQL } from '../../tools/postgres/server'

const server = Bun.env.PLANTSTORE_TEST_DATABASE || null

/** The environment in which a tested program finds the server. */
export const serverEnvironment: Readonly<Record<string, string>> = server
  ? { PGPASSWORD: Bun.env.PGPASSWORD ?? '' }
  : {}

/** Runs a statement synchronously; returns the output of psql. */
export function query(url: string, statement: string): string {
  const { stdout, stderr, exitCode } = Bun.spawnSync([PSQL, '-AqtX', url, '-c', statement], {
    env: serverEnvironment,
  })
  if (exitCode !== 0) throw new Error(stderr.toString())
  return stdout.toString()
}

const schemas = new Set<string>()

/**
 * The argument of --database, or of psql, for a path: the path itself, or the URL of its schema, which is created.
 */
export function databaseAt(path: string, form: 'plantstore' | 'libpq' = 'plantstore'): string {
  if (!server || path.startsWith('postgres')) return path
  const schema = `p${Bun.hash(path).toString(36)}`
  if (!schemas.has(schema)) {
    query(server, `CREATE SCHEMA IF NOT EXISTS ${schema}`)
    schemas.add(schema)
  }
  return form === 'libpq'
    ? `${server}?options=-csearch_path%3D${schema}`
    : `${server}?search_path=${schema}`
}

/** A command line with each value of `--database` replaced. */
export const withDatabase = (args: readonly string[]): string[] =>
  args.map((word, index) => (args[index - 1] === '--database' ? databaseAt(word) : word))
