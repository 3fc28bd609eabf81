// The SQL that reads tokens.

import type { Database } from 'bun:sqlite'
import { TOKEN_COLUMNS, type TokenRow, toToken } from '../../../token/row'
import type { Token } from '../../../token/token'

export type TokenReader = {
  find(hash: string): Token | null
  list(): Token[]
}

/** Prepares the queries of a database's tokens; see `Tokens`. */
export function prepareTokenReader(db: Database): TokenReader {
  const one = db.query<TokenRow, [string]>(`SELECT ${TOKEN_COLUMNS} FROM tokens WHERE hash = ?`)
  const all = db.query<TokenRow, []>(
    `SELECT ${TOKEN_COLUMNS} FROM tokens ORDER BY created_at, name`,
  )

  return {
    find(hash) {
      const row = one.get(hash)
      return row && toToken(row)
    },
    list: () => all.all().map(toToken),
  }
}
