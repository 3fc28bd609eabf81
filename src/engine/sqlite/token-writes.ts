// The SQL that changes tokens.

import type { Database } from 'bun:sqlite'
import { TOKEN_COLUMNS } from '../../token/row'
import type { Scope, Token } from '../../token/token'

export type TokenWrites = {
  create(token: Token): boolean
  prune(time: number): number
  revoke(name: string, now: number): boolean
}

/** Prepares the changes of a database's tokens, each made within a transaction; see `Tokens`. */
export function prepareTokenWrites(db: Database): TokenWrites {
  type Values = [string, string, Scope, number, number | null, number | null, number | null]
  const insert = db.query<never, Values>(
    `INSERT INTO tokens (${TOKEN_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  )
  // Not for a token with a taken hash: it cannot be added.
  const retire = db.query<never, [string, number, string]>(
    `UPDATE tokens SET revoked_at = expires_at
     WHERE name = ? AND revoked_at IS NULL AND expires_at <= ?
       AND NOT EXISTS (SELECT 1 FROM tokens WHERE hash = ?)`,
  )
  const revoke = db.query<never, [number, string]>(
    'UPDATE tokens SET revoked_at = ? WHERE name = ? AND revoked_at IS NULL',
  )
  const prune = db.query<never, [number]>(
    'DELETE FROM tokens WHERE min(ifnull(revoked_at, expires_at), ifnull(expires_at, revoked_at)) <= ?',
  )
  return {
    create({ name, hash, scope, createdAt, expiresAt, revokedAt, lastUsedAt }) {
      retire.run(name, createdAt, hash)
      const result = insert.run(name, hash, scope, createdAt, expiresAt, revokedAt, lastUsedAt)
      return result.changes === 1
    },
    prune: (time) => prune.run(time).changes,
    revoke: (name, now) => revoke.run(now, name).changes === 1,
  }
}
