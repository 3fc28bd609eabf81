// The row that enables the change log and numbers its entries: see change-log.ts.

import type { SQL } from 'bun'
import type { KeepChanges } from '../../../change-log/change-log'
import { newChangeLogName } from '../../../change-log/entry'
import type { Standing } from '../connection/settings'
import { commit, rowsOf, type Statement } from '../connection/statements'

/** Changes with each promotion, point-in-time recovery and new server; empty if the server does not show it. */
const historyOf = ({ cluster, timeline }: Standing): string =>
  cluster && `${cluster}-${timeline.toString(16).toUpperCase().padStart(8, '0')}`

/**
 * Renames the change log if commits may have been lost, so that every cursor expires: the caller knows of the loss, or
 * this is another server. Marks in cursors would not do: a client with an older cursor may have listed lost plants.
 */
export async function renameChangeLog(
  sql: SQL,
  standing: Standing,
  hasLost: boolean,
): Promise<void> {
  await sql.unsafe(
    `UPDATE change_log SET log = $1, timeline = $2
     WHERE log IS NOT NULL AND (timeline <> $2 OR $3::boolean)`,
    [newChangeLogName(), historyOf(standing), hasLost],
  )
}

// Waits for the steps in progress; each process finds its lane changed at its next step, and enters it again. Steps lock
// `lanes` first too, so there is no deadlock.
const LOCK_LANES: Statement = ['LOCK TABLE lanes IN SHARE ROW EXCLUSIVE MODE']

const beginChangeLog = (keepMs: number): readonly Statement[] => [
  [
    'UPDATE change_log SET log = coalesce(log, $1), keep_ms = $2::bigint',
    newChangeLogName(),
    keepMs,
  ],
  ['UPDATE lanes SET logs = true WHERE NOT logs'],
]
const END_CHANGE_LOG: readonly Statement[] = [
  // The same lock as TRUNCATE takes, so that no entry is added after the count. The numbers have no gaps.
  ['LOCK TABLE changes'],
  [
    `SELECT last + 1 - coalesce((SELECT min(number) FROM changes), last + 1) AS entries FROM change_log`,
  ],
  ['TRUNCATE changes'],
  ['UPDATE change_log SET log = NULL, keep_ms = NULL'],
  ['UPDATE lanes SET logs = false WHERE logs'],
]

/**
 * Begins or ends the change log, or changes its retention period, for every writing process. Resolves to the number of
 * entries removed if it was ended; else to null.
 */
export async function keepChanges(sql: SQL, keep: KeepChanges): Promise<number | null> {
  if (keep === null) return null
  const [row] = await sql<{ keep_ms: bigint | null }[]>`SELECT keep_ms FROM change_log`
  if (row?.keep_ms === (keep === 'off' ? null : BigInt(keep))) return null
  const statements = keep === 'off' ? END_CHANGE_LOG : beginChangeLog(keep)
  const [, , , countResult] = await commit(sql, ['BEGIN', LOCK_LANES, ...statements])
  return keep === 'off' ? Number(rowsOf<{ entries: bigint }>(countResult)[0]?.entries ?? 0) : null
}
