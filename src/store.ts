// The contract of every engine: a store with plants, tokens, a change log, and health.

import type { ChangeLog } from './change-log/change-log'
import type { Plants } from './plant/plants'
import type { RequestError } from './request-errors'
import type { Tokens } from './token/tokens'

/**
 * A store of plants. Each method may reject with a {@link RequestError}: `busy` if the queue is full, `storage failed` if
 * the storage refuses it, `disk full` if the disk is full, or an error that the method documents. After a rejection
 * nothing was stored, with two exceptions: an `InDoubtError`, and the message of a command that says so. A daemon whose
 * disk fails ends, and answers no more. A method that changes something resolves when the change is durable: it survives
 * the end of the process and a loss of power.
 */
export interface Store extends Plants, Tokens {
  /** undefined if there is none. Read it on each use; another process may enable or disable the change log. */
  readonly changeLog?: ChangeLog | undefined
  /**
   * Rejects with the reason that writes fail, if there is one. `damaged`: those that need a damaged page do. It does not
   * wait behind the queue: a busy store is healthy, and so is one whose disk stalls for a few seconds. A replica resolves
   * if it can be read; `behind`: it is known to lack recent changes.
   */
  probe(): Promise<'ok' | 'damaged' | 'behind'>
  stats(): StoreStats
  /** Commits the queue, if the storage works, then closes the store. */
  close(): Promise<void>
}

/** The reads of commands, for any schema since 1.0.0: nothing is written, and the parts that an older one lacks are empty. */
export type ReadOnlyStore = Pick<Store, 'listTokens' | 'close'> & {
  readonly changeLog: Pick<ChangeLog, 'read' | 'watch'>
}

/** The state of a store. Sizes are in bytes. */
export type StoreStats = {
  /**
   * The one reason that changes cannot be made durable: the last failed commit, a commit that waits for more than 10 s,
   * or a file that was moved; null if they can.
   */
  readonly problem: RequestError | null
  /** True if a page is known to be damaged; not of a server. */
  readonly isDamaged?: boolean
  readonly queuedWrites: number
  /** null if unknown, as for a server. */
  readonly databaseBytes: number | null
  /** null for a server, and a read-only store: another process writes the log. */
  readonly walBytes: number | null
  /** Free bytes for this user on the file system of the database. */
  readonly freeBytes: number | null
  /** Only for a server. */
  readonly server?: ServerStats
  /** Only for a read-only store. */
  readonly replica?: ReplicaStats
}

/** The lag of a replica behind its primary. */
export type ReplicaStats = {
  /** Age of the last change, or 0 if the replica is known to have every change. Null if unknown, as of a file. */
  readonly lagSeconds: number | null
  /** Bytes of the write-ahead log that were received and not applied. Null if unknown, as of a file. */
  readonly lagBytes: number | null
}

/** Counters of the database server since the store was opened. */
type ServerStats = {
  /** Number of times that a lost server was found again. */
  readonly reconnects: number
  /** Commits that the server had confirmed and then lost: there should never be any. */
  readonly lostCommits: number
}

/** The findings of a check of a store. */
export type Findings = {
  readonly schemaVersion: number
  readonly plants: number
  readonly tokens: number
  /** Damage, and a schema that is not plantstore's, one line each; empty if there is none. */
  readonly problems: readonly string[]
  /** Records that another program has made wrong, one line each with the fix. Copies of the database have them too. */
  readonly wrongRecords: readonly string[]
}
