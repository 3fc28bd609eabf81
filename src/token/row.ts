// A token as a row of a table: every engine has the same columns.

import type { Scope, Token } from './token'

/** A row as Bun reads it. Times are milliseconds since 1970. */
export type TokenRow = {
  name: string
  hash: string
  scope: Scope
  created_at: bigint
  expires_at: bigint | null
  revoked_at: bigint | null
  last_used_at: bigint | null
}

export const TOKEN_COLUMNS = 'name, hash, scope, created_at, expires_at, revoked_at, last_used_at'

const toTime = (value: bigint | null): number | null => (value === null ? null : Number(value))

/** The token of a row. */
export const toToken = (row: TokenRow): Token => ({
  name: row.name,
  hash: row.hash,
  scope: row.scope,
  createdAt: Number(row.created_at),
  expiresAt: toTime(row.expires_at),
  revokedAt: toTime(row.revoked_at),
  lastUsedAt: toTime(row.last_used_at),
})
