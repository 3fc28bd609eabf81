// The SQL of lanes: see lane.ts.

import type { SQL } from 'bun'
import { rollBack, rowsOf, type SqlResult, type Statement, sendAll } from '../connection/statements'
import { SCHEMA_VERSION } from '../schema'

const KEPT_DAYS = 30

/** A step of a lane: the sequence number that a commit sets, one above the previous commit. */
export type LaneStep = {
  readonly lane: string
  readonly seq: number
  /** True if the step adds to the change log. If the lane differs, the step is not made. */
  readonly hasChangeLog: boolean
}

/** The result of a fence. */
export type Fence = {
  /** The last step that was committed. */
  readonly lastStep: number
  /** The refused ids of that step. */
  readonly refusedIds: string
  /** True if a change log is kept. */
  readonly hasChangeLog: boolean
}

// Waits for a process that begins or ends the change log, so that the new lane has the right `logs`. Makes no lane in a
// schema that a newer plantstore has upgraded since.
const INSERT_LANE = `INSERT INTO lanes (lane, seq, logs)
  SELECT $1, 0, log IS NOT NULL FROM change_log
  WHERE $1 <> '' AND EXISTS (SELECT FROM plantstore_schema WHERE version = ${SCHEMA_VERSION})
  FOR SHARE OF change_log RETURNING logs`

/** Removes lanes, and adds their counts to the number of plants. */
const removeWhere = (
  where: string,
): string => `WITH gone AS (DELETE FROM lanes WHERE ${where} RETURNING added)
  UPDATE plant_count SET plants = plants + (SELECT sum(added) FROM gone) WHERE (SELECT sum(added) FROM gone) <> 0`

const SWEEP = removeWhere(`seen_at < now() - interval '${KEPT_DAYS} days'`)

/** Inserts a lane with a random name, and removes those unused for {@link KEPT_DAYS}. */
export async function makeLane(sql: SQL): Promise<Pick<LaneStep, 'lane' | 'hasChangeLog'>> {
  const lane = crypto.randomUUID()
  const [insertResult] = await sendAll(sql, [[INSERT_LANE, lane], [SWEEP]])
  return { lane, hasChangeLog: rowsOf<{ logs: boolean }>(insertResult)[0]?.logs ?? false }
}

// Finds the row by its key, past the old versions that a snapshot keeps; max() may read them all. `>=`: a step in
// progress may move the row.
const NEWEST = `lane = $1 AND
  seq >= (SELECT seq FROM lanes WHERE lane = $1 ORDER BY seq DESC LIMIT 1)`

const DELETE_LANE = removeWhere(NEWEST)

export async function removeLane(sql: SQL, lane: string): Promise<void> {
  await sql.unsafe(DELETE_LANE, [lane])
}

/** The last step of a lane; null if there is none. */
export async function sequenceOf(sql: SQL, lane: string): Promise<number | null> {
  const query = `SELECT seq::float8 AS seq FROM lanes WHERE ${NEWEST}`
  const [row] = await sql.unsafe<{ seq: number }[]>(query, [lane])
  return row?.seq ?? null
}

const ADVANCE = `UPDATE lanes SET seq = $2::bigint, seen_at = now()
  WHERE lane = $1 AND seq = $2::bigint - 1 AND logs = $3::boolean RETURNING seq`

/**
 * Begins the transaction of a step, and resolves to the results of its statements, or to null if the lane has moved, and the
 * transaction was rolled back.
 */
export async function beginStep(
  sql: SQL,
  { lane, seq, hasChangeLog }: LaneStep,
  statements: readonly Statement[],
): Promise<readonly SqlResult[] | null> {
  const all: Statement[] = ['BEGIN', [ADVANCE, lane, seq, hasChangeLog], ...statements]
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

const COUNT_PLANTS =
  'UPDATE lanes SET added = added + $3::bigint WHERE lane = $1 AND seq = $2::bigint'

/** Counts the plants that a step adds; within its transaction. */
export const addPlants = ({ lane, seq }: LaneStep, growth: number): Statement => [
  COUNT_PLANTS,
  lane,
  seq,
  growth,
]

const FENCE = `UPDATE lanes SET seen_at = now(), seq = greatest(seq, $2::bigint + 1),
  fenced_from = CASE WHEN seq <= $2::bigint THEN seq ELSE fenced_from END
  WHERE ${NEWEST}
  RETURNING fenced_from::float8 AS "lastStep", refused AS "refusedIds", logs AS "hasChangeLog"`

/**
 * Moves a lane past a step, committed or not; if not, it never will be. Sent again, it finds the same. It is also a
 * barrier: once it is confirmed, so are all earlier commits. Resolves to null if the row is gone.
 */
export async function fence(
  sql: SQL,
  { lane, seq }: Omit<LaneStep, 'hasChangeLog'>,
): Promise<Fence | null> {
  const [fenced] = await sql.unsafe<Fence[]>(FENCE, [lane, seq])
  return fenced ?? null
}

/** The statements on lanes, with parameters that match no row. Each fails if a privilege, a table or a column is missing. */
export const LANE_STATEMENTS: readonly Statement[] = [
  [ADVANCE, '', 0, false],
  [COUNT_PLANTS, '', 0, 0],
  [FENCE, '', 0],
  [INSERT_LANE, ''],
  [DELETE_LANE, ''],
]
