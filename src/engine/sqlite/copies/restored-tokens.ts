// The tokens of a restored database. Those of the database that it replaces stay as they are, so that a token that was
// revoked since the backup stays revoked.

import type { Database } from 'bun:sqlite'
import { TOKEN_COLUMNS } from '../../../token/row'

type Row = Readonly<Record<string, string | number | null>>

const columnsOf = (db: Database): string[] =>
  db
    .query<{ name: string }, []>(`SELECT name FROM pragma_table_info('tokens')`)
    .all()
    .map(({ name }) => name)

function read(db: Database, columns: readonly string[]): Row[] {
  try {
    return db.query<Row, []>(`SELECT ${columns.join()} FROM tokens`).all()
  } catch {
    // A damaged page.
    return []
  }
}

/**
 * Gives a restored database the tokens of the one that it replaces; false if that cannot be read, or has no token in
 * common with it, and so may be another store. Either may have an older schema.
 */
export function keepTokens(replaced: Database, restored: Database): boolean {
  const existing = [replaced, restored].map(columnsOf)
  const columns = TOKEN_COLUMNS.split(', ').filter((column) =>
    existing.every((all) => all.includes(column)),
  )
  if (columns.length === 0) return false
  const tokens = read(replaced, columns)
  const hashes = new Set(read(restored, ['hash']).map(({ hash }) => hash))
  if (!tokens.some(({ hash }) => hashes.has(hash))) return false
  const replaceAll = restored.transaction(() => {
    restored.run('DELETE FROM tokens')
    const insert = restored.query(
      `INSERT INTO tokens (${columns.join()}) VALUES (${columns.map(() => '?').join()})`,
    )
    for (const token of tokens) insert.run(...columns.map((column) => token[column] ?? null))
  })
  replaceAll.immediate()
  return true
}

/** The names of a restored database's valid tokens. */
export const validTokens = (restored: Database, now: number): string[] =>
  restored
    .query<{ name: string }, [number]>(
      'SELECT name FROM tokens WHERE revoked_at IS NULL AND ifnull(expires_at > ?, 1) ORDER BY name',
    )
    .all(now)
    .map(({ name }) => name)
