// The SQL of tokens, the same in every engine. A statement that changes tokens returns a row for each.

import { TOKEN_COLUMNS } from '../../token/row'
import type { Token } from '../../token/token'
import type { Tokens } from '../../token/tokens'
import type { GroupCommit } from './group-commit'
import { WRITE_BYTES } from './plant-writes'
import type { TokenStatement, Write } from './write'

/** Finds a token by its hash. */
export const FIND_TOKEN = `SELECT ${TOKEN_COLUMNS} FROM tokens WHERE hash = $1`

/** Every token, oldest first. */
export const LIST_TOKENS = `SELECT ${TOKEN_COLUMNS} FROM tokens ORDER BY created_at, name`

/** Adds a token unless its name or hash is taken. */
export const addToken = (token: Token): TokenStatement => [
  `INSERT INTO tokens (${TOKEN_COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7)
   ON CONFLICT DO NOTHING RETURNING hash`,
  ...[token.name, token.hash, token.scope, token.createdAt],
  ...[token.expiresAt, token.revokedAt, token.lastUsedAt],
]

// Not for a token with a taken hash: it cannot be added.
const freeName = ({ name, createdAt, hash }: Token): TokenStatement => [
  `UPDATE tokens SET revoked_at = expires_at
   WHERE name = $1 AND revoked_at IS NULL AND expires_at <= $2
     AND NOT EXISTS (SELECT 1 FROM tokens WHERE hash = $3) RETURNING hash`,
  ...[name, createdAt, hash],
]

type TokenChanges = Pick<Tokens, 'createToken' | 'revokeToken' | 'pruneTokens'>

/** The changes of tokens. `change` commits statements, and resolves to the number of tokens that the last has changed. */
export const createTokenChanges = (
  change: (statements: readonly TokenStatement[]) => Promise<number>,
): TokenChanges => ({
  createToken: async (token) => (await change([freeName(token), addToken(token)])) > 0,
  revokeToken: async (name, now) =>
    (await change([
      [
        'UPDATE tokens SET revoked_at = $1 WHERE name = $2 AND revoked_at IS NULL RETURNING hash',
        ...[now, name],
      ],
    ])) > 0,
  pruneTokens: (time) =>
    change([
      ['DELETE FROM tokens WHERE revoked_at <= $1 OR expires_at <= $1 RETURNING hash', time],
    ]),
})

/** The changes of tokens, through a group commit. */
export const tokenWrites = (writes: GroupCommit<Write>): TokenChanges =>
  createTokenChanges(async (statements) => {
    const report = await writes.submit({ kind: 'changeTokens', statements }, WRITE_BYTES)
    return report.changed
  })
