// The SQL of tokens, in the serving thread.

import type { Database } from 'bun:sqlite'
import { TOKEN_COLUMNS, type TokenRow, toToken } from '../../../token/row'
import type { Scope, Token } from '../../../token/token'

/** The tokens of a database; see `Tokens`. */
export type TokenTable = {
  find(hash: string): Token | null
  create(token: Token): boolean
  list(): Token[]
  prune(by: number): number
  /** `onLocked` runs once no other process can write. */
  revoke(name: string, now: number, onLocked?: () => void): boolean
}

const LIST = `SELECT ${TOKEN_COLUMNS} FROM tokens ORDER BY created_at, name`

/** The tokens of a database, read by a read-only connection. */
export const listTokens = (db: Database): Token[] => db.query<TokenRow, []>(LIST).all().map(toToken)

/** Prepares the queries and changes of a database's tokens. */
export function prepareTokens(db: Database): TokenTable {
  const select = db.query<TokenRow, [string]>(`SELECT ${TOKEN_COLUMNS} FROM tokens WHERE hash = ?`)
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
  const revokeLocked = db.transaction((name: string, now: number, onLocked: () => void) => {
    onLocked()
    return revoke.run(now, name).changes === 1
  })
  const add = db.transaction((token: Token) => {
    const { name, hash, scope, createdAt, expiresAt, revokedAt, lastUsedAt } = token
    retire.run(name, createdAt, hash)
    return insert.run(name, hash, scope, createdAt, expiresAt, revokedAt, lastUsedAt).changes === 1
  })

  return {
    find(hash) {
      const row = select.get(hash)
      return row && toToken(row)
    },
    create: (token) => add.immediate(token),
    list: () => listTokens(db),
    prune: (by) => prune.run(by).changes,
    revoke: (name, now, onLocked = () => {}) => revokeLocked.immediate(name, now, onLocked),
  }
}
