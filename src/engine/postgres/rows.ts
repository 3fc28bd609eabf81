// Rows of plants by their ids.

import type { SQL } from 'bun'
import { type Row, type RowId, type StoredPlant, toRowId } from '../change'
import type { Rows } from '../decide'
import { type Answer, bigints, rowsOf, type Statement } from './statements'

const SELECT = 'SELECT id, name, tag FROM plants WHERE id = ANY($1::bigint[])'

/** Reads rows and keeps others from changing them until the transaction ends; in order, so that two rarely deadlock. */
export const lockRows = (sql: SQL, ids: readonly RowId[]): Statement => [
  `${SELECT} ORDER BY id FOR UPDATE`,
  bigints(sql, ids),
]

export function toRows(answer: Answer | undefined): Rows {
  const rows = new Map<RowId, Row>()
  for (const { id, name, tag } of rowsOf<StoredPlant>(answer)) {
    const rowId = toRowId(id)
    rows.set(rowId, [rowId, name, tag])
  }
  return rows
}

/** The rows of these ids that are stored. */
export async function selectRows(sql: SQL, ids: readonly (RowId | bigint)[]): Promise<Rows> {
  return toRows(await sql.unsafe<StoredPlant[]>(SELECT, [bigints(sql, ids)]))
}
