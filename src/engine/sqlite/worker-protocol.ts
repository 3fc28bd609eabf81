// What the serving thread and the committing one say to each other: JSON in one string, the cheapest message in Bun.

import type { Change, Outcome } from '../change'
import type { Failure } from './errors'

/** The database to open: the file at the path must have this inode. */
export type DatabaseToOpen = {
  readonly path: string
  readonly inode: string | null
  /** Whether nothing is trusted that is not read from the disk anew: after a failed write or sync. */
  readonly distrustsPageCache: boolean
}

/** Requests are answered one after another. */
export type Request =
  | { readonly open: DatabaseToOpen }
  | { readonly commit: readonly Change[] }
  | { readonly close: true }

/**
 * How a request ended. `done`: all of it, each change included. `outcomes`: committed, with refusals. `failure`: nothing
 * of it was stored. `inDoubt`: these are the outcomes if the disk turns out to hold the commit; null: the thread died.
 */
export type Answer =
  | 'done'
  | { readonly outcomes: readonly Outcome[] }
  | { readonly failure: Failure }
  | { readonly failure: Failure; readonly inDoubt: readonly Outcome[] | null }

/** How a checkpoint went: the pages of the log, and how many of them are in the database; sent unasked. */
export type CheckpointReport =
  | { readonly pages: number; readonly checkpointed: number }
  | { readonly checkpointFailure: Failure }

export type Reply = Answer | CheckpointReport

export const isReport = (reply: Reply): reply is CheckpointReport =>
  typeof reply === 'object' && ('pages' in reply || 'checkpointFailure' in reply)

export const failureOf = (answer: Answer): Failure | null =>
  typeof answer === 'object' && 'failure' in answer ? answer.failure : null
