// The SQL of one change, within a transaction that is open.

import { type Database, SQLiteError } from 'bun:sqlite'
import type { Precondition } from '../../entity-tag'
import type { ErrorNumber } from '../../errors'
import { type Change, type Outcome, patchRow, type Row, type RowId, refuseChange } from '../change'
import { APPLICATION_ID } from './migrations'

// Errors of one statement and its values, not of the storage (https://sqlite.org/rescode.html).
const STATEMENT_ERROR = /^SQLITE_(CONSTRAINT|MISMATCH|RANGE|TOOBIG)/

/** Returns a function that applies one change and returns its outcome. It throws if the storage fails. */
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
  const use = db.query<never, [number, string]>('UPDATE tokens SET last_used_at = ? WHERE hash = ?')
  const remove = db.query<never, [bigint]>('DELETE FROM plants WHERE id = ?')

  function create([rowId, name, tag]: Row): ErrorNumber | null {
    const id = BigInt(rowId)
    if (insert.run(id, name, tag).changes === 1) return null
    const stored = select.get(id)
    return stored?.name === name && stored.tag === tag ? 40901 : 40902
  }

  function createAll(rows: readonly Row[]): Outcome {
    db.run('SAVEPOINT create_all')
    let isDone = false
    try {
      for (const [index, row] of rows.entries()) {
        const error = create(row)
        if (error === null) continue
        const which = `plants[${index}], id ${row[0]}`
        return {
          error,
          message:
            error === 40901
              ? `nothing was created: ${which} is already stored, with the same fields`
              : `nothing was created: ${which} belongs to a different plant`,
        }
      }
      isDone = true
      return null
    } finally {
      // If the storage failed, SQLite has already ended the transaction.
      if (db.inTransaction) {
        if (!isDone) db.run('ROLLBACK TO create_all')
        db.run('RELEASE create_all')
      }
    }
  }

  function read(id: RowId): Row | null {
    const stored = select.get(BigInt(id))
    return stored && [id, stored.name, stored.tag]
  }

  function replace([id, name, tag]: Row, precondition?: Precondition): Outcome {
    const refusal = precondition ? refuseChange(read(id), precondition) : null
    if (refusal) return refusal
    return update.run(name, tag, BigInt(id)).changes === 1 ? null : { error: 40402 }
  }

  function apply(change: Change): Outcome {
    switch (change[0]) {
      case 'create': {
        const error = create(change[1])
        return error && { error }
      }
      case 'createAll':
        return createAll(change[1])
      case 'replace':
        return replace(change[1], change[2])
      case 'patch': {
        const stored = read(change[1])
        const refusal = refuseChange(stored, change[3])
        if (!stored || refusal) return refusal
        const row = patchRow(stored, change[2])
        return replace(row) ?? { row }
      }
      case 'delete': {
        const refusal = change[2] ? refuseChange(read(change[1]), change[2]) : null
        if (refusal) return refusal
        return remove.run(BigInt(change[1])).changes === 1 ? null : { error: 40402 }
      }
      case 'use':
        use.run(change[2], change[1])
        return null
      case 'probe':
        // SQLite writes the page that holds it, whatever its value was.
        db.run(`PRAGMA application_id = ${APPLICATION_ID}`)
        return null
    }
  }

  return (change) => {
    try {
      return apply(change)
    } catch (error) {
      if (!(error instanceof SQLiteError && STATEMENT_ERROR.test(error.code ?? ''))) throw error
      return { error: 50001, detail: `${error.code} ${error.message}` }
    }
  }
}
