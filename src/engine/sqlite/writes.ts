// The SQL of one write, within an open transaction.

import { type Database, SQLiteError } from 'bun:sqlite'
import type { NewEntry } from '../../change-log/entry'
import { FIELDS, TEXT_FIELDS } from '../../plant/plant'
import { COLUMNS, type PlantRecord, type RowTexts, toRow } from '../../plant/row'
import { decide, isPlantWrite, type State } from '../commit/kinds'
import { DONE, isDone, type Outcome, type Refusal, type Report, type Write } from '../commit/write'
import { AlteredSchema } from './errors'
import { APPLICATION_ID, requireOne } from './schema'

// Errors of one statement and its values, not of the disk (https://sqlite.org/rescode.html).
const STATEMENT_ERROR = /^SQLITE_(CONSTRAINT|MISMATCH|RANGE|TOOBIG)/

/** The plants of a database, for {@link decide}. */
function prepareState(db: Database): State {
  const select = db.query<PlantRecord, [bigint]>(`SELECT ${COLUMNS} FROM plants WHERE id = ?`)
  const insert = db.query<never, [bigint, ...RowTexts]>(
    `INSERT INTO plants (${COLUMNS}) VALUES (${FIELDS.map(() => '?')}) ON CONFLICT (id) DO NOTHING`,
  )
  const update = db.query<never, [...RowTexts, bigint]>(
    `UPDATE plants SET ${TEXT_FIELDS.map((name) => `${name} = ?`)} WHERE id = ?`,
  )
  const remove = db.query<never, [bigint]>('DELETE FROM plants WHERE id = ?')

  const state: State = {
    read(id) {
      const row = select.get(BigInt(id))
      return row && toRow(row)
    },
    insert([id, ...texts]) {
      const result = insert.run(BigInt(id), ...texts)
      if (result.changes !== 1 && select.get(BigInt(id))) return false
      requireOne(result)
      return true
    },
    update([id, ...texts]) {
      requireOne(update.run(...texts, BigInt(id)))
    },
    remove(id) {
      requireOne(remove.run(BigInt(id)))
    },
    allOrNone<T extends Report>(act: (state: State) => Refusal | T) {
      db.run('SAVEPOINT all_or_none')
      let outcome: Refusal | T | undefined
      try {
        outcome = act(state)
        return outcome
      } finally {
        // After a disk error, SQLite has already ended the transaction.
        if (db.inTransaction) {
          if (!isDone(outcome)) db.run('ROLLBACK TO all_or_none')
          db.run('RELEASE all_or_none')
        }
      }
    },
  }
  return state
}

/** Writes to the disk without a change: SQLite rewrites the page of this value, although it stays the same. */
export function probe(db: Database): void {
  db.run(`PRAGMA application_id = ${APPLICATION_ID}`)
}

/**
 * Returns a function that applies one write and returns its outcome. Entries of a write that takes effect are added to
 * `entries`. Throws if the storage fails.
 */
export function prepareWrites(db: Database, removeEntries: (upTo: number) => void) {
  const state = prepareState(db)
  const recordUse = db.query<never, [number, string]>(
    'UPDATE tokens SET last_used_at = ? WHERE hash = ?',
  )

  function apply(write: Write, entries?: NewEntry[]): Outcome {
    if (isPlantWrite(write)) return decide(write, state, entries)
    switch (write.kind) {
      case 'recordUse':
        recordUse.run(write.hour, write.hash)
        return DONE
      case 'removeEntries':
        removeEntries(write.upTo)
        return DONE
    }
  }

  return (write: Write, entries?: NewEntry[]): Outcome => {
    try {
      return apply(write, entries)
    } catch (error) {
      if (error instanceof AlteredSchema) return { error: 'unexpected', detail: error.message }
      if (!(error instanceof SQLiteError && STATEMENT_ERROR.test(error.code ?? ''))) throw error
      return { error: 'unexpected', detail: `${error.code} ${error.message}` }
    }
  }
}
