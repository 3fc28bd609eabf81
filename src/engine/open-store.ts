// Chooses the engine that --database names: today, always the embedded SQLite.

import type { Store } from '../store'
import type { Role } from './role'
import { openSqlite } from './sqlite/store'

/**
 * Opens the store at a path. Rejects with an `OpenError` that says, in one line, why it cannot be opened and what to do.
 */
export const openStore = (database: string, role: Role): Promise<Store> =>
  openSqlite(database, role)
