// Writes refused by the disk or the database. The store counts as unwritable until as much has been written as a create
// does, or, on a full disk, as the refused batch. That is tried each second: a smaller write may well succeed.

import type { RequestError } from '../../../errors'
import { isPlantWrite } from '../../commit/kinds'
import type { PlantWrite, Write } from '../../commit/write'
import type { StoreUser } from '../../store-user'
import type { StorageFailure } from '../file/errors'

const RETRY_MS = 1000
// A full disk refuses every change: it is logged no more often than this.
const LOGGED_EVERY_MS = 60_000

/** The refused writes of one storage. */
export type RefusedWrites = {
  /** The reason that the store counts as unwritable; null if it does not. */
  reason(): RequestError | null
  /** The reason that changes are refused untried, as another try would suspend the storage again. */
  blocking(): RequestError | null
  /** The changes that a full disk refused, for the next rehearsal. */
  changes(): readonly PlantWrite[]
  /** Notes that a batch failed; returns the reason. */
  failed(failure: StorageFailure, batch: readonly Write[]): RequestError
  /** Notes that a change was refused for a reason that may affect others. */
  suspect(): void
  /** Notes the result of a rehearsal; a lock says nothing about the disk. */
  rehearsed(failure: StorageFailure | null): void
  close(): void
}

/** `rehearse` writes as much as was refused, and reports the result; rejects if it cannot be tried now. */
export function watchRefusedWrites(
  storeUser: StoreUser,
  toError: (failure: StorageFailure) => RequestError,
  rehearse: () => Promise<void>,
): RefusedWrites {
  let refused: { readonly failure: StorageFailure; readonly since: number } | null = null
  let changes: readonly PlantWrite[] = []
  let retry: Timer | undefined
  let loggedAt = Number.NEGATIVE_INFINITY
  let isClosed = false

  async function look(): Promise<void> {
    retry = undefined
    await rehearse().catch(() => {})
    if (refused) lookLater()
  }

  function lookLater(): void {
    if (storeUser.outlivesOutages && !isClosed) retry ??= setTimeout(look, RETRY_MS)
  }

  function begin(failure: StorageFailure): void {
    refused = { failure, since: refused?.since ?? performance.now() }
    lookLater()
  }

  function logAtTimes({ kind, detail }: StorageFailure): void {
    if (performance.now() < loggedAt + LOGGED_EVERY_MS) return
    loggedAt = performance.now()
    storeUser.log('error', kind === 'full' ? 'disk-full' : 'cannot-write', { detail })
  }

  function end(since: number): void {
    refused = null
    changes = []
    if (loggedAt < since) return
    storeUser.log('info', 'writable-again', {
      seconds: Math.round((performance.now() - since) / 1000),
    })
  }

  return {
    reason: () => refused && toError(refused.failure),
    blocking: () => (refused?.failure.kind === 'failed' ? toError(refused.failure) : null),
    changes: () => changes,
    failed(failure, batch) {
      // Any other failure may be the fault of this batch alone: rehearsing it would block all others.
      if (failure.kind === 'full' && batch.some(isPlantWrite)) changes = batch.filter(isPlantWrite)
      begin(failure)
      // An outage logs its own reason.
      if (failure.kind !== 'failed') logAtTimes(failure)
      return toError(failure)
    },
    suspect: lookLater,
    rehearsed(failure) {
      if (failure?.kind === 'busy') return
      if (failure) {
        begin(failure)
        logAtTimes(failure)
      } else if (refused) end(refused.since)
    },
    close() {
      isClosed = true
      clearTimeout(retry)
    },
  }
}
