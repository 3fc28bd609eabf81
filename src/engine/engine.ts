// The engines, and their operations on the database named by --database. No other file knows the list of engines.

import { realpathSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { shortenNameCache } from '../files/libc'
import { statOf } from '../files/resolve-path'
import type { Log } from '../log'
import type { Plant } from '../plant/plant'
import type { Findings, ReadOnlyStore, Store } from '../store'
import { type DatabaseSecrets, isPostgresUrl, withoutPassword } from './database-url'
import { copyDatabase } from './sqlite/backup'
import { filesOf } from './sqlite/files'
import { allPlants } from './sqlite/plants'
import { openForCommand } from './sqlite/reader'
import type { restoreDatabase } from './sqlite/restore'
import { readDatabase } from './sqlite/snapshot'
import { openSqlite } from './sqlite/store'
import type { StoreUser } from './store-user'

/** The location of a database. */
type Place = {
  /** Its absolute path, or its URL without the password. */
  readonly name: string
  /** The name of the file or of the database alone; empty if a URL names none. */
  readonly baseName: string
  /** The paths of its files, existing or not; none on a server. */
  readonly files: readonly string[]
  /** True if the files do not exist yet. */
  readonly isNew: boolean
}

/** Plants in ascending order of their ids, in parts that fit in memory. */
export type PlantParts = Iterable<readonly Plant[]> | AsyncIterable<readonly Plant[]>

/**
 * The operations of an engine on a database. Each rejects with an `OpenError`, one line with the reason and the fix, or
 * with a `UsageError` for a malformed URL.
 */
type Engine = {
  readonly name: 'sqlite' | 'postgresql'
  locate(database: string): Place
  open(database: string, secrets: DatabaseSecrets, storeUser: StoreUser): Promise<Store>
  openReadOnly(database: string, secrets: DatabaseSecrets, log: Log): Promise<ReadOnlyStore>
  /** Reads a whole store without writing. */
  check(database: string, secrets: DatabaseSecrets, log?: Log): Promise<Findings>
  /** Lets `read` read a store as of one moment, without writing; from the start again unless it can read only `once`. */
  readAll<T>(
    database: string,
    secrets: DatabaseSecrets,
    mode: 'once' | 'repeatable',
    log: Log,
    read: (plants: PlantParts) => Promise<T>,
  ): Promise<T>
  /** Copies a database to a file, and checks the copy. */
  readonly backup?: typeof copyDatabase
  readonly restore?: typeof restoreDatabase
}

const sqlite: Engine = {
  name: 'sqlite',
  locate(database) {
    const isNew = !statOf(database)
    const name = isNew ? resolve(database) : realpathSync(database)
    return { name, baseName: basename(name), files: filesOf(name), isNew }
  },
  open: (database, _, storeUser) => openSqlite(database, storeUser),
  openReadOnly: async (database) => openForCommand(database),
  // The daemon neither checks nor restores.
  check: async (database) => (await import('./sqlite/check')).checkDatabase(database),
  readAll: (database, _, mode, __, read) =>
    readDatabase(database, (db) => read(allPlants(db)), mode === 'once'),
  backup: copyDatabase,
  restore: async (...paths) => (await import('./sqlite/restore')).restoreDatabase(...paths),
}

// Loaded only if used.
async function parseTarget(database: string, secrets: DatabaseSecrets) {
  // Managed servers fail over by a change of their address.
  shortenNameCache()
  return (await import('./postgres/connection/url')).parsePostgresUrl(database, secrets)
}

const postgres: Engine = {
  name: 'postgresql',
  locate: (database) => ({
    name: withoutPassword(database),
    baseName: /^\w+:\/\/[^/?]*\/([^/?]*)/.exec(database)?.[1] ?? '',
    files: [],
    isNew: false,
  }),
  async open(database, secrets, storeUser) {
    const target = await parseTarget(database, secrets)
    return (await import('./postgres/store')).openPostgres(target, storeUser)
  },
  async openReadOnly(database, secrets, log) {
    const target = await parseTarget(database, secrets)
    return (await import('./postgres/snapshot')).openReadOnly(target, log)
  },
  async check(database, secrets, log) {
    const target = await parseTarget(database, secrets)
    return (await import('./postgres/check')).checkServer(target, log)
  },
  async readAll(database, secrets, _, log, read) {
    const target = await parseTarget(database, secrets)
    const snapshot = await import('./postgres/snapshot')
    return snapshot.readSnapshot(target, log, (ask) => read(snapshot.allPlants(ask)))
  },
}

/** The engine of a database. Any text but the URL of a server is a path. */
export const engineOf = (database: string): Engine => (isPostgresUrl(database) ? postgres : sqlite)

const NO_SECRETS: DatabaseSecrets = { databasePassword: null, databasePasswordFile: null }

/** Opens the store at a path or a URL. */
export const openStore = (
  database: string,
  storeUser: StoreUser,
  secrets: DatabaseSecrets = NO_SECRETS,
): Promise<Store> => engineOf(database).open(database, secrets, storeUser)
