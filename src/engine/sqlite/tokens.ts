// The SQL of tokens.

import type { Database } from 'bun:sqlite'
import { TOKEN_COLUMNS, type TokenRow, toToken } from '../../token/row'
import type { Token } from '../../token/token'

export type TokenReader = ReturnType<typeof prepareTokenReader>

/** Prepares the queries of a database's tokens; see `Tokens`. */
export function prepareTokenReader(db: Database) {
  const one = db.query<TokenRow, [string]>(`SELECT ${TOKEN_COLUMNS} FROM tokens WHERE hash = ?`)
  return {
    find(hash: string): Token | null {
      const row = one.get(hash)
      return row && toToken(row)
    },
    list: (): Token[] =>
      db
        .query<TokenRow, []>(`SELECT ${TOKEN_COLUMNS} FROM tokens ORDER BY created_at, name`)
        .all()
        .map(toToken),
  }
}

/** Adds a token within a transaction; false if that fails. See `Tokens.createToken`. */
export function insertToken(db: Database, token: Token): boolean {
  const { name, hash, scope, createdAt, expiresAt, revokedAt, lastUsedAt } = token
  // Not for a token with a taken hash: it cannot be added.
  db.run(
    `UPDATE tokens SET revoked_at = expires_at
     WHERE name = ? AND revoked_at IS NULL AND expires_at <= ?
       AND NOT EXISTS (SELECT 1 FROM tokens WHERE hash = ?)`,
    [name, createdAt, hash],
  )
  const { changes } = db.run(
    `INSERT INTO tokens (${TOKEN_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    [name, hash, scope, createdAt, expiresAt, revokedAt, lastUsedAt],
  )
  return changes === 1
}

/** Revokes a token within a transaction; see `Tokens.revokeToken`. */
export const revokeToken = (db: Database, name: string, now: number): boolean =>
  db.run('UPDATE tokens SET revoked_at = ? WHERE name = ? AND revoked_at IS NULL', [now, name])
    .changes === 1

/** Removes tokens within a transaction; see `Tokens.pruneTokens`. */
export const pruneTokens = (db: Database, time: number): number =>
  db.run(
    'DELETE FROM tokens WHERE min(ifnull(revoked_at, expires_at), ifnull(expires_at, revoked_at)) <= ?',
    [time],
  ).changes

/** The tokens of a database; none if it cannot be read. */
function readTokens(db: Database): Token[] {
  try {
    return prepareTokenReader(db).list()
  } catch {
    return []
  }
}

/**
 * Copies the tokens of the replaced database to the restored one, so that a token revoked since the backup stays
 * revoked; false if the old one cannot be read, or shares no token with it and may be another store.
 */
export function keepTokens(oldDb: Database, newDb: Database): boolean {
  const tokens = readTokens(oldDb)
  const hashes = new Set(readTokens(newDb).map(({ hash }) => hash))
  if (!tokens.some(({ hash }) => hashes.has(hash))) return false
  const replaceAll = newDb.transaction(() => {
    newDb.run('DELETE FROM tokens')
    for (const token of tokens) insertToken(newDb, token)
  })
  replaceAll.immediate()
  return true
}

/** The names of a restored database's valid tokens. */
export const validTokens = (newDb: Database, now: number): string[] =>
  readTokens(newDb)
    .filter(({ revokedAt, expiresAt }) => revokedAt === null && (expiresAt ?? now + 1) > now)
    .map(({ name }) => name)
    .sort()
