// The users of a store: the daemon, which owns it; a command, which works with or without a daemon; or a reader, which
// changes nothing, such as a daemon on a standby.

import type { KeepChanges } from '../change-log/change-log'
import { exitAtOnce } from '../files/libc'
import type { Log } from '../log'
import { EXIT_CODES } from '../program'
import { RequestError } from '../request-errors'
import { hasWritten } from './commit/kinds'
import type { Outcome, Write } from './commit/write'

/**
 * Rights and duties of the process that opens a store. Made by {@link storeOwner}, {@link commandUser} or
 * {@link storeReader}, once per process.
 */
export type StoreUser = {
  /** The refusal of every change; null for a user that may write. */
  readonly refusal: RequestError | null
  /** Holds the lock of the database until it is closed, so that it has only one daemon. */
  readonly holdsLock: boolean
  /** Creates the database if there is none. */
  readonly makesDatabase: boolean
  /** Waits for failed storage to recover. A command fails instead, and can be run again. */
  readonly outlivesOutages: boolean
  /** Begins or ends the change log of the store. */
  readonly keepChanges: KeepChanges
  /** Aborted when the process is told to stop. A store that is still opening then rejects. */
  readonly stopping: AbortSignal
  readonly log: Log
  /** Runs a commit. Defers Ctrl-Z until the commit ends, so that a stopped command holds no lock. */
  readonly deferSuspend: <T>(commit: () => Promise<T>) => Promise<T>
  /** Called after each commit that changed something, with its number of changes and its milliseconds. */
  readonly onCommit: (changes: number, milliseconds: number) => void
  /** Ends a daemon whose disk has failed, at once: only a new start reads what the disk has stored. */
  readonly onDiskFailure: () => void
}

/** A user without rights or duties, whose Ctrl-C ends the process at once. */
const DEFAULTS: StoreUser = {
  refusal: null,
  holdsLock: false,
  makesDatabase: false,
  outlivesOutages: false,
  keepChanges: null,
  stopping: new AbortController().signal,
  log: () => {},
  deferSuspend: (commit) => commit(),
  onCommit: () => {},
  onDiskFailure: () => exitAtOnce(EXIT_CODES.storage),
}

/** A process that serves a store to clients for as long as it runs. */
export const storeOwner = (
  log: Log,
  onCommit: StoreUser['onCommit'],
  keepChanges: KeepChanges = null,
  stopping = DEFAULTS.stopping,
  onDiskFailure = DEFAULTS.onDiskFailure,
): StoreUser => ({
  ...DEFAULTS,
  holdsLock: true,
  makesDatabase: true,
  outlivesOutages: true,
  keepChanges,
  stopping,
  log,
  onCommit,
  onDiskFailure,
})

type CommandOptions = Pick<StoreUser, 'makesDatabase'> &
  Partial<Pick<StoreUser, 'deferSuspend' | 'log'>>

/** A command, which uses a store briefly and does not interfere with a daemon. */
export const commandUser = (options: CommandOptions): StoreUser => ({ ...DEFAULTS, ...options })

type Reader = Partial<Pick<StoreUser, 'log' | 'stopping'>> & {
  /** The address to which clients send changes; null if unknown. */
  readonly primaryUrl?: string | null
}

/** A daemon that only reads a store: of a server or a standby, or of a file or a copy that another process writes. */
export const storeReader = ({ primaryUrl = null, ...reader }: Reader = {}): StoreUser => ({
  ...DEFAULTS,
  ...reader,
  outlivesOutages: true,
  refusal: new RequestError(
    'read-only service',
    primaryUrl === null ? undefined : `this plantstore is read-only; send changes to ${primaryUrl}`,
  ),
})

/** Logs the refusals of a committed batch, and counts its changes. */
export function observeCommit(
  { log, onCommit }: StoreUser,
  batch: readonly Write[],
  outcomes: readonly Outcome[],
  milliseconds: number,
): void {
  let changes = 0
  for (const [index, write] of batch.entries()) {
    const outcome = outcomes[index]
    if (hasWritten(write, outcome)) changes += 1
    if (typeof outcome === 'object' && 'detail' in outcome) {
      log('error', 'unexpected', { detail: outcome.detail })
    }
  }
  if (changes > 0) onCommit(changes, milliseconds)
}
