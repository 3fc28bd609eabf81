// Checks a store, with the engine that --database names.

import { type DatabaseSecrets, isPostgresUrl } from '../database-url'
import type { Findings } from './findings'
import { checkDatabase } from './sqlite/check'

/** Reads a whole store, and writes nothing to it. Rejects with an `OpenError` if it cannot be opened. */
export async function checkStore(database: string, secrets: DatabaseSecrets): Promise<Findings> {
  if (!isPostgresUrl(database)) return checkDatabase(database)
  // Loaded only if it is used.
  const { parsePostgresUrl } = await import('./postgres/url')
  const { checkServer } = await import('./postgres/check')
  return checkServer(parsePostgresUrl(database, secrets))
}
