// The tokens of a database: reads, changes, and their stay through a restore.

import type { Database } from 'bun:sqlite'
import { type TokenRow, toToken } from '../../token/row'
import { isValid, type Token } from '../../token/token'
import { addToken, FIND_TOKEN, LIST_TOKENS } from '../commit/token-writes'
import type { TokenStatement } from '../commit/write'

/** Prepares the queries of a database's tokens; see `Tokens`. */
export function prepareTokens(db: Database) {
  const one = db.query<TokenRow, [string]>(FIND_TOKEN)
  return {
    find(hash: string): Token | null {
      const row = one.get(hash)
      return row && toToken(row)
    },
    list: (): Token[] => db.query<TokenRow, []>(LIST_TOKENS).all().map(toToken),
  }
}

/** Changes tokens by statements, within a transaction. Returns the number of tokens that the last one has changed. */
export function changeTokens(db: Database, statements: readonly TokenStatement[]): number {
  const run = ([sql, ...values]: TokenStatement) => db.query(sql).all(...values).length
  return statements.map(run).at(-1) ?? 0
}

/**
 * Copies the tokens of the replaced database to the restored one, so that a token revoked since the backup stays
 * revoked, and returns null. If the old one cannot be read, or shares no token with it and may be another store: returns
 * the names of the valid tokens of the restored one.
 */
export function keepTokens(oldDb: Database | null, newDb: Database): readonly string[] | null {
  let tokens: Token[] = []
  try {
    if (oldDb) tokens = prepareTokens(oldDb).list()
  } catch {
    // It is damaged, or was empty.
  }
  const ofBackup = prepareTokens(newDb)
  if (!tokens.some(({ hash }) => ofBackup.find(hash))) {
    const valid = ofBackup.list().filter((token) => isValid(token, Date.now()))
    return valid.map(({ name }) => name).sort()
  }
  const replaceAll = newDb.transaction(() => {
    newDb.run('DELETE FROM tokens')
    changeTokens(newDb, tokens.map(addToken))
  })
  replaceAll.immediate()
  return null
}
