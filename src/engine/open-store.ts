// Chooses the engine that --database names: the embedded SQLite, or PostgreSQL.

import { type DatabaseSecrets, isPostgresUrl } from '../database-url'
import type { Store } from '../store'
import type { Role } from './role'
import { openSqlite } from './sqlite/store'

const NO_SECRETS: DatabaseSecrets = { databasePassword: null, databasePasswordFile: null }

/**
 * Opens the store at a path or a URL. Rejects with an `OpenError`, one line that says why it cannot be opened and what to
 * do, or with a `UsageError` for a malformed URL.
 */
export async function openStore(
  database: string,
  role: Role,
  secrets: DatabaseSecrets = NO_SECRETS,
): Promise<Store> {
  if (!isPostgresUrl(database)) return openSqlite(database, role)
  // Loaded only if it is used.
  const { parsePostgresUrl } = await import('./postgres/url')
  const { openPostgres } = await import('./postgres/store')
  return openPostgres(parsePostgresUrl(database, secrets), role)
}
