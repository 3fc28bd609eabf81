// What other programs have altered so that SQLite discards or changes what is stored: triggers, and the table of plants.

import type { Database } from 'bun:sqlite'
import { FIELDS } from '../../../plant/plant'
import { describeColumn, describeForeignPart } from '../../foreign-part'
import { AlteredSchema } from './errors'

const TABLES = ['plants', 'changes', 'change_log', 'tokens']

type Trigger = { readonly name: string; readonly table: string }

/** Throws an {@link AlteredSchema} that names the trigger, if a table of plantstore has one. */
export function refuseTriggers(db: Database): void {
  // SQLite keeps the name of a trigger's table as typed.
  const trigger = db
    .query<Trigger, []>(
      `SELECT name, lower(tbl_name) AS "table" FROM sqlite_schema
       WHERE type = 'trigger' AND lower(tbl_name) IN (${TABLES.map((table) => `'${table}'`)})`,
    )
    .get()
  if (!trigger) return
  const { name, table } = trigger
  throw new AlteredSchema(describeForeignPart('trigger', name, table))
}

type Column = { readonly name: string; readonly type: string }

/** Throws an {@link AlteredSchema}, if the table of plants would change what is stored. */
export function refuseAlteredPlants(db: Database): void {
  const columns = db.query<Column, []>(`SELECT name, type FROM pragma_table_info('plants')`).all()
  for (const { name, type } of columns) {
    const expected = name === 'id' ? 'INTEGER' : 'TEXT'
    const isOurs = FIELDS.some((field) => field === name)
    if (isOurs && type.toUpperCase() !== expected)
      throw new AlteredSchema(describeColumn(`plants.${name}`, type || 'of no type', expected))
  }
  const table = db
    .query<{ sql: string }, []>(
      `SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = 'plants'`,
    )
    .get()
  const words = table?.sql.toUpperCase().split(/\s+/) ?? []
  if (words.join(' ').includes('ON CONFLICT REPLACE'))
    throw new AlteredSchema(
      'table plants has ON CONFLICT REPLACE, which deletes other plants; create it again without',
    )
}
