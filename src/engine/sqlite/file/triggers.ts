// Triggers of other programs: SQLite runs them within each write, and they may discard or change what is stored.

import type { Database } from 'bun:sqlite'
import { describeForeignPart } from '../../foreign-part'
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
