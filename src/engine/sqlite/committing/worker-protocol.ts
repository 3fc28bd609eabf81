// Messages between the serving and the committing thread: JSON in one string, the cheapest message in Bun.

import type { DONE, Outcome, PlantWrite, Write } from '../../commit/write'
import type { StorageFailure } from '../../storage-state'
import type { LastEntry } from '../reading/change-log'

/** The database to open: the file at the path must have this inode. */
export type DatabaseToOpen = {
  readonly path: string
  readonly inode: string | null
  /** False: there is no change log, and no other process can begin one. */
  readonly mayKeepChangeLog: boolean
}

/** Requests are answered in order. `isDistrusted`: after a failed write or sync, the page cache must not be trusted. */
export type Request =
  | { readonly open: DatabaseToOpen; readonly isDistrusted: boolean }
  | { readonly commit: readonly Write[] }
  | { readonly rehearse: readonly PlantWrite[] }
  | { readonly close: true }

/**
 * The outcome of a request. `DONE`: completely, each of its writes too. `outcomes`: committed, with refusals or rows.
 * `failure`: nothing of it was stored. `inDoubt`: these are the outcomes if the disk turns out to hold the commit;
 * null: the thread died. `lastEntry`: that of the batch in the change log, if it has any.
 */
export type CommitReply =
  | typeof DONE
  | { readonly outcomes: readonly Outcome[] }
  | { readonly failure: StorageFailure }
  | {
      readonly failure: StorageFailure
      readonly inDoubt: readonly Outcome[] | null
      readonly lastEntry: LastEntry | null
    }

/** The result of a checkpoint: the pages of the WAL, and the number copied to the database; sent unrequested. */
export type CheckpointReport =
  | { readonly pages: number; readonly checkpointed: number }
  | { readonly checkpointFailure: StorageFailure }

export type Reply = CommitReply | CheckpointReport

export const isReport = (reply: Reply): reply is CheckpointReport =>
  typeof reply === 'object' && ('pages' in reply || 'checkpointFailure' in reply)

export const failureOf = (answer: CommitReply): StorageFailure | null =>
  typeof answer === 'object' && 'failure' in answer ? answer.failure : null

export const isInDoubt = (answer: CommitReply): boolean =>
  typeof answer === 'object' && 'inDoubt' in answer
