// Statements that are sent together on one connection.

import type { SQL } from 'bun'
import type { Connection } from './connection'
import { isInDoubt, isLockTimeout, sqlStateOf } from './errors'

/** A statement with the values of its parameters, or one that begins or ends a transaction. */
export type Statement = 'BEGIN' | 'COMMIT' | readonly [text: string, ...values: readonly unknown[]]

/** The answer to a statement: its rows, and its command tag. */
export type SqlResult<Row = unknown> = readonly Row[] & { readonly command: string | null }

// "current transaction is aborted": the error of an earlier statement is the reason.
const ABORTED = '25P02'

// Without parameters, `unsafe` uses the simple protocol, which Bun does not pipeline; a template does not.
function send(sql: SQL, statement: Statement): Promise<SqlResult> {
  if (statement === 'BEGIN') return sql<unknown[]>`BEGIN`
  if (statement === 'COMMIT') return sql<unknown[]>`COMMIT`
  const [text, ...values] = statement
  return sql.unsafe<unknown[]>(text, values)
}

/**
 * Sends statements without waiting in between. Resolves to their results; rejects, once all have ended, with the first
 * error.
 */
export async function sendAll(sql: SQL, statements: readonly Statement[]): Promise<SqlResult[]> {
  const results = await Promise.allSettled(statements.map((statement) => send(sql, statement)))
  const answers: SqlResult[] = []
  let consequence: unknown
  for (const result of results) {
    if (result.status === 'fulfilled') answers.push(result.value)
    else if (sqlStateOf(result.reason) !== ABORTED) throw result.reason
    else consequence ??= result.reason
  }
  if (consequence) throw consequence
  return answers
}

/**
 * Sends statements one after another. Resolves to the errors of those that the server refuses, up to the first lock that
 * is not granted in time.
 */
export async function refusalsOf(
  { ask }: Connection,
  statements: readonly Statement[],
): Promise<unknown[]> {
  const refusals: unknown[] = []
  for (const statement of statements) {
    try {
      await ask((sql) => sendAll(sql, [statement]))
    } catch (error) {
      if (isInDoubt(error)) throw error
      refusals.push(error)
      if (isLockTimeout(error)) break
    }
  }
  return refusals
}

/** Sends the rest of a transaction and COMMIT. PostgreSQL answers ROLLBACK to the COMMIT of a failed transaction. */
export async function commit(sql: SQL, statements: readonly Statement[]): Promise<SqlResult[]> {
  const answers = await sendAll(sql, [...statements, 'COMMIT'])
  const word = answers.pop()?.command
  if (word !== 'COMMIT') throw new Error(`COMMIT was answered with ${word}`)
  return answers
}

/** The rows of a result; the caller names the selected type. */
export const rowsOf = <Row>(answer: SqlResult | undefined): readonly Row[] =>
  (answer ?? []) as readonly unknown[] as readonly Row[]

/** Rolls back a transaction. */
export async function rollBack(sql: SQL): Promise<void> {
  await sql.unsafe('ROLLBACK')
}

/** Limits the waits for locks until the transaction ends. */
export const limitLocks = (milliseconds: number): Statement => [
  `SELECT set_config('lock_timeout', $1, true)`,
  String(milliseconds),
]

export const bigints = (sql: SQL, ids: readonly (number | string | bigint)[]) =>
  sql.array(ids.map(String), 'BIGINT')

export const texts = (sql: SQL, values: readonly (string | null)[]) =>
  sql.array([...values], 'TEXT')

/** Rows as one array per column: the parameters from `first` on, an id and the named texts. */
export const columnsFrom = (first: number, names: readonly string[]): string =>
  `unnest($${first}::bigint[], ${names.map((_, place) => `$${first + 1 + place}::text[]`)})`

/** The values of these parameters. */
export const columnsOf = (
  sql: SQL,
  names: readonly string[],
  rows: readonly (readonly [id: number | string, ...texts: (string | null)[]])[],
) => {
  const ids = rows.map(([id]) => id)
  const columns = names.map((_, place) => rows.map(([, ...values]) => values[place] ?? null))
  return [bigints(sql, ids), ...columns.map((values) => texts(sql, values))]
}
