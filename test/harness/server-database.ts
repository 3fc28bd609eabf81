// Runs tests that are written for a database file against PostgreSQL: where PLANTSTORE_TEST_DATABASE has the URL of a
// server, each path that a test names stands for a schema there.

import { psql } from '../../tools/postgres/server'

const server = Bun.env.PLANTSTORE_TEST_DATABASE || null

/** The environment of a program under test that finds the server. */
export const serverEnvironment: Readonly<Record<string, string>> = server
  ? { PGPASSWORD: Bun.env.PGPASSWORD ?? '' }
  : {}

/** Runs a statement at once, as a file is read; returns what psql prints. */
export function query(url: string, statement: string): string {
  const { stdout, stderr, exitCode } = Bun.spawnSync([psql, '-AqtX', url, '-c', statement], {
    env: serverEnvironment,
  })
  if (exitCode !== 0) throw new Error(stderr.toString())
  return stdout.toString()
}

const made = new Set<string>()

/**
 * The argument of --database, or of psql, for a path: itself, or the URL of its own schema, which exists afterwards.
 */
export function databaseAt(path: string, form: 'plantstore' | 'libpq' = 'plantstore'): string {
  if (!server || path.startsWith('postgres')) return path
  const schema = `p${Bun.hash(path).toString(36)}`
  if (!made.has(schema)) {
    query(server, `CREATE SCHEMA IF NOT EXISTS ${schema}`)
    made.add(schema)
  }
  return form === 'libpq'
    ? `${server}?options=-csearch_path%3D${schema}`
    : `${server}?search_path=${schema}`
}

/** The words of a command line, with what `--database` names. */
export const withDatabase = (args: readonly string[]): string[] =>
  args.map((word, index) => (args[index - 1] === '--database' ? databaseAt(word) : word))
