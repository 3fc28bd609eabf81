// The SQL of tokens.

import type { SQL } from 'bun'
import { type TokenRow, toToken } from '../../../token/row'
import type { Token } from '../../../token/token'
import { FIND_TOKEN, LIST_TOKENS } from '../../commit/token-writes'
import type { TokenStatement } from '../../commit/write'
import { commit, type Statement } from '../connection/statements'
import type { Step } from '../lane/lane'
import { beginStep } from '../lane/lane-row'

/** The token with a hash; null if there is none. */
export async function findToken(sql: SQL, hash: string): Promise<Token | null> {
  const [row] = await sql.unsafe<TokenRow[]>(FIND_TOKEN, [hash])
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
export const FIND_NONE: Statement = [FIND_TOKEN, '']

export async function listTokens(sql: SQL): Promise<Token[]> {
  return (await sql.unsafe<TokenRow[]>(LIST_TOKENS)).map(toToken)
}

/** A step of statements; its result is the number of tokens that the last one returns. */
export function tokensStep(statements: readonly TokenStatement[]): Step<number> {
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
