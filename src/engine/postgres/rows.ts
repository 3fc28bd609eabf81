// Rows of plants by their ids.

import type { SQL } from 'bun'
import { COLUMNS, type Row, type RowId, rowOf, type StoredPlant } from '../row'
import type { Rows } from './overlay'
import { type Answer, bigints, rowsOf, type Statement } from './statements'

const SELECT = `SELECT ${COLUMNS} FROM plants WHERE id = ANY($1::bigint[])`

/** Reads rows and keeps others from changing them until the transaction ends; in order, so that two rarely deadlock. */
export const lockRows = (sql: SQL, ids: readonly RowId[]): Statement => [
  `${SELECT} ORDER BY id FOR UPDATE`,
  bigints(sql, ids),
]

export function toRows(answer: Answer | undefined): Rows {
  const rows = new Map<RowId, Row>()
  for (const stored of rowsOf<StoredPlant>(answer)) {
    const row = rowOf(stored)
    rows.set(row[0], row)
  }
  return rows
}

/** The rows of these ids that are stored. */
export async function selectRows(sql: SQL, ids: readonly (RowId | bigint)[]): Promise<Rows> {
  return toRows(await sql.unsafe<StoredPlant[]>(SELECT, [bigints(sql, ids)]))
}
