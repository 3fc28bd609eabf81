// A lane: a row of one writer, whose number each of its commits advances. Of a commit in doubt it tells, on whatever
// connection and host, whether it was made; and fences it: what was not made by then never will be.

import type { SQL } from 'bun'
import type { Connection } from './connection'
import { type Answer, rollBack, rowsOf, type Statement, sendAll } from './statements'

/** A step of a lane: the number that a commit gives it, one above that of the commit before. */
export type LaneStep = { readonly lane: string; readonly seq: number }

/** Asks a connection that is not under way, and again where that is lost. */
export type Read = <T>(ask: (sql: SQL) => Promise<T>) => Promise<T>

/** A commit of a writer. It can be sent again where it was not made. */
export type Step<Result> = {
  /** Whether it is one statement, so that others may be sent behind it before its answer is there. */
  readonly isPipelined: boolean
  /**
   * Sends it. Resolves to the refusals that the lane keeps of it; 'left': it is over, and nothing was written, the lane
   * neither; 'elsewhere': the lane was not one below this step, so nothing was made.
   */
  send(sql: SQL, at: LaneStep): Promise<{ readonly refused: string } | 'left' | 'elsewhere'>
  /** The result, once it is over; `read` asks another connection, and again where that is lost. */
  finish(refused: string, read: Read): Promise<Result>
}

/** Steps whose refusals the row remembers: no more may be under way at a time. */
export const LONGEST_PIPELINE = 4

const KEPT_DAYS = 30
// For the fence: a backend that still holds the row is waited for in parts, so that the server is seen to answer.
const FENCE_LOCK_MS = 1000

/** What a fence found: the last step that was made, and the refusals of the newest ones, the last first. */
export type Fence = {
  /** No step up to this one will be made from now on, unless it was. */
  readonly top: number
  /** null: the row is gone. */
  readonly made: number | null
  readonly refused: readonly string[]
}

/** Makes a lane of a random name, and removes those of writers that are long gone. */
export async function enterLane({ sql }: Connection): Promise<string> {
  const lane = crypto.randomUUID()
  await sendAll(sql, [
    ['INSERT INTO lanes (lane, seq) VALUES ($1, 0)', lane],
    [`DELETE FROM lanes WHERE seen_at < now() - interval '${KEPT_DAYS} days'`],
  ])
  return lane
}

export async function leaveLane({ sql }: Connection, lane: string): Promise<void> {
  await sql.unsafe('DELETE FROM lanes WHERE lane = $1', [lane])
}

const ADVANCE = `UPDATE lanes SET seq = $2::bigint, seen_at = now()
  WHERE lane = $1 AND seq = $2::bigint - 1 RETURNING seq`

/**
 * Begins the transaction of a step, and answers the statements behind it. null: the lane is elsewhere, so nothing may be
 * done, and the transaction is over.
 */
export async function beginStep(
  sql: SQL,
  { lane, seq }: LaneStep,
  statements: readonly Statement[],
): Promise<readonly Answer[] | null> {
  const all: Statement[] = ['BEGIN', [ADVANCE, lane, seq], ...statements]
  try {
    const [, advanced, ...answers] = await sendAll(sql, all)
    if (advanced?.length === 1) return answers
  } catch (error) {
    await rollBack(sql)
    throw error
  }
  await rollBack(sql)
  return null
}

/** Sends the rest of a transaction with its COMMIT, which is one only if the server says so. */
export async function commitStep(sql: SQL, statements: readonly Statement[]): Promise<Answer[]> {
  const answers = await sendAll(sql, [...statements, 'COMMIT'])
  const word = answers.pop()?.command
  if (word !== 'COMMIT') throw new Error(`COMMIT was answered by ${word}`)
  return answers
}

const FENCE = `UPDATE lanes SET seen_at = now(), seq = greatest(seq, $2::bigint + 1),
  fenced_from = CASE WHEN seq <= $2::bigint THEN seq ELSE fenced_from END
  WHERE lane = $1 RETURNING fenced_from, refused`

/**
 * Puts a lane above the step `top`, whatever its number was; again after a fence whose answer was lost, it finds the same.
 * As a write it is a barrier, too: once it is confirmed, so is every commit before it.
 */
export async function fence(connection: Connection, { lane, seq: top }: LaneStep): Promise<Fence> {
  const [, , moved, end] = await sendAll(connection.sql, [
    'BEGIN',
    [`SET LOCAL lock_timeout = ${FENCE_LOCK_MS}`],
    [FENCE, lane, top],
    'COMMIT',
  ])
  if (end?.command !== 'COMMIT') throw new Error(`COMMIT was answered by ${end?.command}`)
  const [row] = rowsOf<{ fenced_from: bigint; refused: string }>(moved)
  if (!row) return { top, made: null, refused: [] }
  return { top, made: Number(row.fenced_from), refused: row.refused.split(';') }
}
