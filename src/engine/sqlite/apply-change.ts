import { type Database, SQLiteError } from 'bun:sqlite'
import type { ErrorNumber } from '../../errors'
import { exactNumber, type Int64, type NewPlant } from '../../plant'
import type { Outcome } from '../group-commit'
import { APPLICATION_ID } from './migrations'

/** An id as it may travel between the threads, in JSON: a number where that is exact, else its digits. */
export type RowId = number | string

/** A plant as it may travel between the threads. */
export type Row = readonly [id: RowId, name: string, tag: string | null]

/** A change of the store, as it may travel to the thread that writes. */
export type Change =
  | readonly ['create', Row]
  | readonly ['createAll', readonly Row[]]
  | readonly ['replace', Row]
  | readonly ['delete', id: RowId]
  | readonly ['probe']

// Digits would cost both threads more: a fourteenth of all that a create takes of them.
export const toRowId = (id: Int64): RowId => exactNumber(id) ?? String(id)

export const toRow = ({ id, name, tag }: NewPlant): Row => [toRowId(id), name, tag ?? null]

// Errors of SQLite that speak of one statement and its values, not of the storage (https://sqlite.org/rescode.html).
const OWN_ERROR = /^SQLITE_(CONSTRAINT|MISMATCH|RANGE|TOOBIG)/

/** What makes one change within a transaction that is open, and says how it ended. Throws where the storage fails. */
export function prepareChanges(db: Database): (change: Change) => Outcome {
  const insert = db.query<never, [bigint, string, string | null]>(
    'INSERT INTO plants (id, name, tag) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING',
  )
  const select = db.query<{ name: string; tag: string | null }, [bigint]>(
    'SELECT name, tag FROM plants WHERE id = ?',
  )
  const update = db.query<never, [string, string | null, bigint]>(
    'UPDATE plants SET name = ?, tag = ? WHERE id = ?',
  )
  const remove = db.query<never, [bigint]>('DELETE FROM plants WHERE id = ?')

  function create([rowId, name, tag]: Row): ErrorNumber | null {
    const id = BigInt(rowId)
    if (insert.run(id, name, tag).changes === 1) return null
    const stored = select.get(id)
    return stored?.name === name && stored.tag === tag ? 40901 : 40902
  }

  function createAll(rows: readonly Row[]): Outcome {
    db.run('SAVEPOINT create_all')
    let isMade = false
    try {
      for (const [index, row] of rows.entries()) {
        const error = create(row)
        if (error === null) continue
        const fields = error === 40901 ? 'the same fields' : 'other fields'
        return {
          error,
          message: `nothing was created: plants[${index}], id ${row[0]}: a plant with this id exists, with ${fields}`,
        }
      }
      isMade = true
      return null
    } finally {
      // Where the storage failed, SQLite has ended all of it.
      if (db.inTransaction) {
        if (!isMade) db.run('ROLLBACK TO create_all')
        db.run('RELEASE create_all')
      }
    }
  }

  function make(change: Change): Outcome {
    switch (change[0]) {
      case 'create': {
        const error = create(change[1])
        return error && { error }
      }
      case 'createAll':
        return createAll(change[1])
      case 'replace': {
        const [id, name, tag] = change[1]
        const { changes } = update.run(name, tag, BigInt(id))
        return changes === 1 ? null : { error: 40402 }
      }
      case 'delete': {
        const { changes } = remove.run(BigInt(change[1]))
        return changes === 1 ? null : { error: 40402 }
      }
      case 'probe':
        // Writes the page that holds it, whatever it was.
        db.run(`PRAGMA application_id = ${APPLICATION_ID}`)
        return null
    }
  }

  return (change) => {
    try {
      return make(change)
    } catch (error) {
      if (!(error instanceof SQLiteError && OWN_ERROR.test(error.code ?? ''))) throw error
      return { error: 50001, detail: `${error.code} ${error.message}` }
    }
  }
}
