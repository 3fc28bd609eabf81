// A store: plants, tokens, the change log and its health, put together. The contract of every engine.

import type { ChangeLog } from './change-log/change-log'
import type { Plants } from './plant/plants'
import type { Tokens } from './token/tokens'

/**
 * A store of plants.
 *
 * Each method may reject with a {@link ApiError}: 50301 if too much is queued, 50302 if the storage fails, 50701 if the
 * disk is full, or an error that the method documents. A rejection means that nothing was stored, with one exception: a
 * command does not wait for failed storage to heal, so its last changes may have been stored.
 * A method that changes something resolves when the change is durable: it survives the end of the process and a loss of
 * power.
 */
export interface Store extends Plants, Tokens {
  /** undefined: none is kept. Read it on each use; another process may enable or disable the change log. */
  readonly changeLog?: ChangeLog | undefined
  /**
   * Resolves if the store can write, as a write now or within the last second shows; otherwise rejects with the reason.
   * It does not wait behind the queue: a busy store is healthy, and so is one whose disk stalls for a few seconds.
   */
  probe(): Promise<void>
  stats(): StoreStats
  /** Commits what is queued, if the storage works, then closes it. */
  close(): Promise<void>
}

/** The state of a store, for metrics. Sizes are in bytes. */
export type StoreStats = {
  /** True if changes can be made durable: false in an outage, and while the write-ahead log cannot be checkpointed. */
  readonly isWritable: boolean
  readonly queued: number
  /** null: not known, as with a server. */
  readonly databaseBytes: number | null
  readonly walBytes: number | null
  /** What the file system of the database has left for this user. */
  readonly freeBytes: number | null
  /** Only if the storage is a server. */
  readonly server?: ServerStats
}

/** What a store has counted of its database server since it was opened. */
export type ServerStats = {
  /** Batches that were sent again because others had written the same rows. */
  readonly retries: number
  /** Commits whose answer was lost, by what became of them. */
  readonly inDoubtMade: number
  readonly inDoubtNotMade: number
  /** Times that a lost server was found again. */
  readonly reconnects: number
  /** Times that a different host was found. */
  readonly failovers: number
  /** Attempts to remove old entries of the change log that the server refused. */
  readonly removalFailures: number
  /** Commits that the server had confirmed and then lost: there should never be any. */
  readonly lostCommits: number
}

/** The findings of a check of a store. */
export type Findings = {
  readonly schemaVersion: number
  readonly plants: number
  readonly tokens: number
  /** What is wrong, one line each; empty if all is well. */
  readonly problems: readonly string[]
}
