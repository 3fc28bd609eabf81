// The row that says whether a log of changes is kept, and that numbers its entries: see change-log.ts.

import type { SQL } from 'bun'
import type { KeepChanges } from '../../changes'
import { newLogName } from '../log-entry'
import { sqlStateOf } from './errors'
import { rollBack, type Statement, sendAll } from './statements'

const MOST_TRIES = 10

/** Whether a log is kept. */
export async function isLogKept(sql: SQL): Promise<boolean> {
  const [row] = await sql<{ log: string | null }[]>`SELECT log FROM change_log`
  return row?.log != null
}

/** Gives the log another name, so that no cursor leads on from commits that the server has lost. */
export async function renameLog(sql: SQL): Promise<void> {
  await sql.unsafe('UPDATE change_log SET log = $1 WHERE log IS NOT NULL', [newLogName()])
}

const DEADLOCK = '40P01'

const BEGIN_LOG = (keepMs: number): readonly Statement[] => [
  ['UPDATE change_log SET log = coalesce(log, $1), keep_ms = $2::bigint', newLogName(), keepMs],
  // Waits for the steps under way; the next step of each process finds its lane changed, and starts again with the log.
  ['UPDATE lanes SET logs = true WHERE NOT logs'],
]
const END_LOG: readonly Statement[] = [
  ['TRUNCATE changes'],
  ['UPDATE change_log SET log = NULL, keep_ms = NULL'],
  ['UPDATE lanes SET logs = false WHERE logs'],
]

/** Begins the log, ends it, or changes how long it is kept, for every process that writes; resolves to whether it ended it. */
export async function keepChanges(sql: SQL, keep: KeepChanges): Promise<boolean> {
  if (keep === null) return false
  const [row] = await sql<{ keep_ms: bigint | null }[]>`SELECT keep_ms FROM change_log`
  if (row?.keep_ms === (keep === 'off' ? null : BigInt(keep))) return false
  for (let tries = 1; ; tries += 1) {
    await sql.unsafe('BEGIN')
    try {
      await sendAll(sql, keep === 'off' ? END_LOG : BEGIN_LOG(keep))
      await sql.unsafe('COMMIT')
      return keep === 'off'
    } catch (error) {
      await rollBack(sql)
      if (sqlStateOf(error) !== DEADLOCK || tries === MOST_TRIES) throw error
    }
  }
}
