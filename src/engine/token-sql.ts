// The SQL of tokens, the same in every engine. A statement that changes tokens returns a row for each.

import { TOKEN_COLUMNS } from '../token/row'
import type { Token } from '../token/token'
import type { TokenStatement } from './commit/write'

/** Finds a token by its hash. */
export const FIND_TOKEN = `SELECT ${TOKEN_COLUMNS} FROM tokens WHERE hash = $1`

/** Every token, oldest first. */
export const LIST_TOKENS = `SELECT ${TOKEN_COLUMNS} FROM tokens ORDER BY created_at, name`

/** Adds a token. Adds none and changes nothing if its name or hash is taken. */
export const createToken = (token: Token): readonly TokenStatement[] => [
  [
    `UPDATE tokens SET revoked_at = expires_at
     WHERE name = $1 AND revoked_at IS NULL AND expires_at <= $2
       AND NOT EXISTS (SELECT 1 FROM tokens WHERE hash = $3) RETURNING hash`,
    ...[token.name, token.createdAt, token.hash],
  ],
  addToken(token),
]

/** Adds a token unless its name or hash is taken. */
export const addToken = (token: Token): TokenStatement => [
  `INSERT INTO tokens (${TOKEN_COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7)
   ON CONFLICT DO NOTHING RETURNING hash`,
  ...[token.name, token.hash, token.scope, token.createdAt],
  ...[token.expiresAt, token.revokedAt, token.lastUsedAt],
]

/** Revokes a token at a time, unless it is already revoked. */
export const revokeToken = (name: string, now: number): TokenStatement => [
  'UPDATE tokens SET revoked_at = $1 WHERE name = $2 AND revoked_at IS NULL RETURNING hash',
  now,
  name,
]

/** Removes the tokens revoked or expired by a time. */
export const pruneTokens = (endedBy: number): TokenStatement => [
  'DELETE FROM tokens WHERE revoked_at <= $1 OR expires_at <= $1 RETURNING hash',
  endedBy,
]
