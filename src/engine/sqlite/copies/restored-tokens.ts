// The tokens of a restored database. A restore keeps those of the replaced database, so that a token revoked since the
// backup stays revoked.

import type { Database } from 'bun:sqlite'
import { TOKEN_COLUMNS } from '../../../token/row'

type Row = Readonly<Record<string, string | number | null>>

const columnsOf = (db: Database): string[] =>
  db
    .query<{ name: string }, []>(`SELECT name FROM pragma_table_info('tokens')`)
    .all()
    .map(({ name }) => name)

function readRows(db: Database, columns: readonly string[]): Row[] {
  try {
    return db.query<Row, []>(`SELECT ${columns.join()} FROM tokens`).all()
  } catch {
    // A damaged page.
    return []
  }
}

/**
 * Copies the tokens of the old database to the restored one; false if the old one cannot be read, or shares no token
 * with it and may be another store. Either may have an older schema.
 */
export function keepTokens(oldDb: Database, newDb: Database): boolean {
  const columnLists = [oldDb, newDb].map(columnsOf)
  const columns = TOKEN_COLUMNS.split(', ').filter((column) =>
    columnLists.every((all) => all.includes(column)),
  )
  if (columns.length === 0) return false
  const tokens = readRows(oldDb, columns)
  const hashes = new Set(readRows(newDb, ['hash']).map(({ hash }) => hash))
  if (!tokens.some(({ hash }) => hashes.has(hash))) return false
  const replaceAll = newDb.transaction(() => {
    newDb.run('DELETE FROM tokens')
    const insert = newDb.query(
      `INSERT INTO tokens (${columns.join()}) VALUES (${columns.map(() => '?').join()})`,
    )
    for (const token of tokens) insert.run(...columns.map((column) => token[column] ?? null))
  })
  replaceAll.immediate()
  return true
}

/** The names of a restored database's valid tokens. */
export const validTokens = (newDb: Database, now: number): string[] =>
  newDb
    .query<{ name: string }, [number]>(
      'SELECT name FROM tokens WHERE revoked_at IS NULL AND ifnull(expires_at > ?, 1) ORDER BY name',
    )
    .all(now)
    .map(({ name }) => name)
