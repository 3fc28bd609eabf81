// The SQL of tokens, in the serving thread.

import type { Database } from 'bun:sqlite'
import type { Scope, Token } from '../../token'

type TokenRow = {
  name: string
  hash: string
  scope: Scope
  created_at: bigint
  expires_at: bigint | null
  revoked_at: bigint | null
}

const toToken = (row: TokenRow): Token => ({
  name: row.name,
  hash: row.hash,
  scope: row.scope,
  createdAt: Number(row.created_at),
  expiresAt: row.expires_at === null ? null : Number(row.expires_at),
  revokedAt: row.revoked_at === null ? null : Number(row.revoked_at),
})

/** Prepares the queries and changes of a database's tokens. */
export function prepareTokens(db: Database) {
  const select = db.query<TokenRow, [string]>(
    'SELECT name, hash, scope, created_at, expires_at, revoked_at FROM tokens WHERE hash = ?',
  )
  const selectAll = db.query<TokenRow, []>(
    'SELECT name, hash, scope, created_at, expires_at, revoked_at FROM tokens ORDER BY created_at, name',
  )
  const insert = db.query<never, [string, string, Scope, number, number | null, number | null]>(
    `INSERT INTO tokens (name, hash, scope, created_at, expires_at, revoked_at) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT DO NOTHING`,
  )
  const revoke = db.query<never, [number, string]>(
    'UPDATE tokens SET revoked_at = ? WHERE name = ? AND revoked_at IS NULL',
  )

  return {
    find(hash: string): Token | null {
      const row = select.get(hash)
      return row && toToken(row)
    },
    create(token: Token): boolean {
      const { name, hash, scope, createdAt, expiresAt, revokedAt } = token
      return insert.run(name, hash, scope, createdAt, expiresAt, revokedAt).changes === 1
    },
    list: (): Token[] => selectAll.all().map(toToken),
    revoke: (name: string, now: number): boolean => revoke.run(now, name).changes === 1,
  }
}
