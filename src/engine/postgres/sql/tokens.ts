// The SQL of tokens.

import type { SQL } from 'bun'
import { TOKEN_COLUMNS, type TokenRow, toToken } from '../../../token/row'
import type { Token } from '../../../token/token'
import { commit, type Statement } from '../connection/statements'
import type { Step } from '../lane/lane'
import { beginStep } from '../lane/lane-row'

/** Finds a token by its hash. */
const FIND = `SELECT ${TOKEN_COLUMNS} FROM tokens WHERE hash = $1`

/** The token with a hash; null if there is none. */
export async function findToken(sql: SQL, hash: string): Promise<Token | null> {
  const [row] = await sql.unsafe<TokenRow[]>(FIND, [hash])
  return row ? toToken(row) : null
}

/** Records the hour of a token's last use, unless another session has locked the row. */
export const recordUse = (hash: string, hour: number): Statement => [
  `UPDATE tokens SET last_used_at = $2
   WHERE hash IN (SELECT hash FROM tokens WHERE hash = $1 FOR UPDATE SKIP LOCKED)`,
  hash,
  hour,
]

/** Finds no token. It fails if a privilege, a table or a column is missing. */
export const FIND_NONE: Statement = [FIND, '']

/** Every token, oldest first. */
export async function listTokens(sql: SQL): Promise<Token[]> {
  const rows = await sql.unsafe<TokenRow[]>(
    `SELECT ${TOKEN_COLUMNS} FROM tokens ORDER BY created_at, name`,
  )
  return rows.map(toToken)
}

/** A step of statements; its result is the number of tokens that the last one returns. */
function tokensStep(...statements: readonly Statement[]): Step<number> {
  let count = 0
  return {
    async send(sql, laneStep) {
      const answers = await beginStep(sql, laneStep, statements)
      if (!answers) return 'elsewhere'
      count = answers.at(-1)?.length ?? 0
      await commit(sql, [])
      return { refusedIds: '' }
    },
    finish: async () => count,
  }
}

/** Adds a token. Adds none and changes nothing if its name or hash is taken. */
export function createTokenStep(token: Token): Step<number> {
  const { name, hash, scope, createdAt, expiresAt, revokedAt, lastUsedAt } = token
  const retire: Statement = [
    `UPDATE tokens SET revoked_at = expires_at
     WHERE name = $1 AND revoked_at IS NULL AND expires_at <= $2
       AND NOT EXISTS (SELECT FROM tokens WHERE hash = $3)`,
    ...[name, createdAt, hash],
  ]
  const insert: Statement = [
    `INSERT INTO tokens (${TOKEN_COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7)
     ON CONFLICT DO NOTHING RETURNING hash`,
    ...[name, hash, scope, createdAt, expiresAt, revokedAt, lastUsedAt],
  ]
  return tokensStep(retire, insert)
}

export const revokeTokenStep = (name: string, now: number): Step<number> =>
  tokensStep([
    'UPDATE tokens SET revoked_at = $1 WHERE name = $2 AND revoked_at IS NULL RETURNING hash',
    now,
    name,
  ])

export const pruneTokensStep = (endedBy: number): Step<number> =>
  tokensStep([
    'DELETE FROM tokens WHERE least(revoked_at, expires_at) <= $1 RETURNING hash',
    endedBy,
  ])
