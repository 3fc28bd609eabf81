// The serving thread's connection: it reads, and writes tokens.

import type { Database } from 'bun:sqlite'
import { prepareOrClose } from './file/connection'
import { guardSchema } from './file/own-schema'
import { prepareReader, type Reader } from './reading/reads'
import { type SharedReads, shareReads } from './reading/shared-reads'
import type { TokenReader } from './reading/tokens'
import { prepareTokenWrites, type TokenWrites } from './token-writes'

/** The connection, and its prepared statements. */
export type ServingConnection = Reader & {
  readonly sharedReads: SharedReads
  readonly tokens: TokenReader & TokenWrites
  /** Writes in one transaction; see {@link guardSchema}. */
  readonly write: <T>(act: () => T) => T
  /** SQLite's `schema_version`, which each change of the schema changes. */
  readonly schemaVersion: () => bigint | undefined
}

/** Prepares the serving thread's connection; see {@link shareReads}. Closes it if that fails. */
export function prepareServing(
  db: Database,
  mayShare: () => boolean,
  onFailure: (error: unknown) => void,
): ServingConnection {
  return prepareOrClose(db, () => {
    const requireOwnSchema = guardSchema(db)
    const sharedReads = shareReads(db, mayShare, onFailure)
    const version = db.query<{ schema_version: bigint }, []>('PRAGMA schema_version')
    const reader = prepareReader(db)
    return {
      ...reader,
      sharedReads,
      tokens: { ...reader.tokens, ...prepareTokenWrites(db) },
      write<T>(act: () => T): T {
        // It would block the write.
        sharedReads.end()
        const run = db.transaction(() => {
          requireOwnSchema()
          return act()
        })
        return run.immediate()
      },
      schemaVersion: () => version.get()?.schema_version,
    }
  })
}
