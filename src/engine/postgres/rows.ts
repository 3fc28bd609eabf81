// Rows of plants by their ids.

import type { SQL } from 'bun'
import { TEXTS } from '../../plant'
import { COLUMNS, type Row, type RowId, type StoredPlant, toRow } from '../row'
import type { Rows } from './overlay'
import { type Answer, bigints, rowsOf, type Statement } from './statements'

/** The bytes of a plant's texts, in SQL. */
export const OCTETS = TEXTS.map((name) => `coalesce(octet_length(${name}), 0)`).join(' + ')

const SELECT = `SELECT ${COLUMNS} FROM plants WHERE id = ANY($1::bigint[])`

/** Reads rows and locks them until the transaction ends; in order, so that two transactions rarely deadlock. */
export const lockRows = (sql: SQL, ids: readonly RowId[]): Statement => [
  `${SELECT} ORDER BY id FOR UPDATE`,
  bigints(sql, ids),
]

const COUNT = `SELECT plants + (SELECT coalesce(sum(added), 0) FROM lanes)::bigint AS plants FROM plant_count`

/** How many plants there are, as commits have counted them; null unless there is one number. */
export async function countPlants(sql: SQL): Promise<number | null> {
  const counts = await sql.unsafe<{ plants: bigint }[]>(COUNT)
  return counts.length === 1 ? Number(counts[0]?.plants) : null
}

export function toRows(answer: Answer | undefined): Rows {
  const rows = new Map<RowId, Row>()
  for (const stored of rowsOf<StoredPlant>(answer)) {
    const row = toRow(stored)
    rows.set(row[0], row)
  }
  return rows
}

/** The rows of these ids that are stored. */
export async function selectRows(sql: SQL, ids: readonly (RowId | bigint)[]): Promise<Rows> {
  return toRows(await sql.unsafe<StoredPlant[]>(SELECT, [bigints(sql, ids)]))
}
