// The SQL of tokens.

import type { SQL } from 'bun'
import type { Token } from '../../token'
import { TOKEN_COLUMNS, type TokenRow, toToken } from '../token-row'
import type { Step } from './lane'
import { beginStep, commitStep } from './lane-row'
import { rollBack, type Statement } from './statements'

const FIND = `SELECT ${TOKEN_COLUMNS} FROM tokens WHERE hash = $1`

/** The token with a hash; null if there is none. */
export async function findToken(sql: SQL, hash: string): Promise<Token | null> {
  const [row] = await sql.unsafe<TokenRow[]>(FIND, [hash])
  return row ? toToken(row) : null
}

/** Records the hour of a token's last use. */
export const useToken = (hash: string, hour: number): Statement => [
  'UPDATE tokens SET last_used_at = $2 WHERE hash = $1',
  hash,
  hour,
]

/** Statements on tokens with nothing to do: each fails if it lacks a privilege, a table or a column. */
export const rehearsal: readonly Statement[] = [[FIND, ''], useToken('', 0)]

/** Every token, the oldest first. */
export async function listTokens(sql: SQL): Promise<Token[]> {
  const rows = await sql.unsafe<TokenRow[]>(
    `SELECT ${TOKEN_COLUMNS} FROM tokens ORDER BY created_at, name`,
  )
  return rows.map(toToken)
}

/** A step that adds a token; false, and nothing changes, if its name or hash is taken. */
export function createTokenStep(token: Token): Step<boolean> {
  const { name, hash, scope, createdAt, expiresAt, revokedAt, lastUsedAt } = token
  const retire: Statement = [
    `UPDATE tokens SET revoked_at = expires_at
     WHERE name = $1 AND revoked_at IS NULL AND expires_at <= $2`,
    name,
    createdAt,
  ]
  const insert: Statement = [
    `INSERT INTO tokens (${TOKEN_COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7)
     ON CONFLICT DO NOTHING RETURNING hash`,
    ...[name, hash, scope, createdAt, expiresAt, revokedAt, lastUsedAt],
  ]
  let isAdded = false
  return {
    async send(sql, at) {
      const answers = await beginStep(sql, at, [retire, insert])
      if (!answers) return 'elsewhere'
      isAdded = answers[1]?.length === 1
      if (isAdded) await commitStep(sql, [])
      else await rollBack(sql)
      return isAdded ? { refused: '' } : 'left'
    },
    finish: async () => isAdded,
  }
}

/** A step of one statement that returns the tokens it changed; its result is their number. */
function tokensStep(statement: Statement): Step<number> {
  let count = 0
  return {
    async send(sql, at) {
      const answers = await beginStep(sql, at, [statement])
      if (!answers) return 'elsewhere'
      count = answers[0]?.length ?? 0
      await commitStep(sql, [])
      return { refused: '' }
    },
    finish: async () => count,
  }
}

export const revokeTokenStep = (name: string, now: number): Step<number> =>
  tokensStep([
    'UPDATE tokens SET revoked_at = $1 WHERE name = $2 AND revoked_at IS NULL RETURNING hash',
    now,
    name,
  ])

export const pruneTokensStep = (by: number): Step<number> =>
  tokensStep(['DELETE FROM tokens WHERE least(revoked_at, expires_at) <= $1 RETURNING hash', by])
