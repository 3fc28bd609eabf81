// Who opens a store: the daemon, which owns it, or a command, which works with or without a daemon beside it.

import type { KeepChanges } from '../change-log/change-log'
import type { Log } from '../log'
import { hasWritten, isDone, isPlantWrite, type Outcome, type Write } from './commit/write'

/** What the process that opens a store may do. Made by {@link storeOwner} or {@link storeGuest}, once per process. */
export type StoreUser = {
  /** Holds the lock of the database until it is closed, so that it has only one daemon. */
  readonly holdsLock: boolean
  /** Creates the database if there is none. */
  readonly makesDatabase: boolean
  /** Waits for failed storage to heal. A command fails instead, and can be run again. */
  readonly outlivesOutages: boolean
  /** Begins or ends the change log of the store. */
  readonly keepChanges: KeepChanges
  /** Aborted when the process is told to stop. A store that is still being opened then gives up, and rejects. */
  readonly stopping: AbortSignal
  readonly log: Log
  /** Runs a commit. Ctrl-Z takes effect after it, so that a stopped command holds no lock. */
  readonly uninterrupted: <T>(commit: () => Promise<T>) => Promise<T>
  /** Called after each commit that changed something, with its number of changes and its milliseconds. */
  readonly onCommit: (changes: number, milliseconds: number) => void
}

const NEVER = new AbortController().signal

/** A process that serves a store to clients for as long as it runs. */
export const storeOwner = (
  log: Log,
  onCommit: StoreUser['onCommit'],
  keepChanges: KeepChanges = null,
  stopping: AbortSignal = NEVER,
): StoreUser => ({
  holdsLock: true,
  makesDatabase: true,
  outlivesOutages: true,
  keepChanges,
  stopping,
  uninterrupted: (commit) => commit(),
  log,
  onCommit,
})

/** A process that uses a store briefly, and lets a daemon beside it work. */
export const storeGuest = ({
  makesDatabase,
  uninterrupted = (commit) => commit(),
  log = () => {},
}: Pick<StoreUser, 'makesDatabase'> & Partial<StoreUser>): StoreUser => ({
  holdsLock: false,
  makesDatabase,
  outlivesOutages: false,
  keepChanges: null,
  // Ctrl-C ends it at once.
  stopping: NEVER,
  uninterrupted,
  log,
  onCommit: () => {},
})

/** Logs what a batch that was committed could not do, and counts its changes. */
export function observeCommit(
  { log, onCommit }: StoreUser,
  batch: readonly Write[],
  outcomes: readonly Outcome[],
  milliseconds: number,
): void {
  let changed = 0
  for (const [index, write] of batch.entries()) {
    const outcome = outcomes[index]
    if (isPlantWrite(write) && hasWritten(outcome)) changed += 1
    if (!isDone(outcome) && outcome?.detail) log('error', 'unexpected', { detail: outcome.detail })
  }
  if (changed > 0) onCommit(changed, milliseconds)
}
