// An outage of the storage. Phases:
// - begin: a write or sync has failed. What the page cache holds may differ from the disk, so nothing is read or written.
// - recover, each second: everything is closed, read from the disk again, and written once.
// - settle: batches in doubt get their outcomes (settle.ts), and the outage is over.
// A command ends with an error instead of recovering.

import type { ApiError } from '../../../errors'
import type { Outcome } from '../../commit/write'
import type { StoreUser } from '../../store-user'
import type { StorageFailure } from '../file/errors'
import type { ServingConnection } from '../reading/connection'
import { type Doubt, settle } from './settle'

const RETRY_MS = 1000

/** The outages of one storage. */
export class Outage {
  #reason: ApiError | null = null
  /** A batch in doubt, and the probes that were sent after it. */
  #doubts: (Doubt & PromiseWithResolvers<readonly Outcome[]>)[] = []
  #recovery: Promise<void> | undefined
  #isClosed = false

  /** `reopen` closes everything, and reads it from the disk again. */
  constructor(
    private readonly role: StoreUser,
    private readonly toError: (failure: StorageFailure) => ApiError,
    private readonly reopen: () => Promise<ServingConnection>,
  ) {}

  /** Why nothing is read or written for now; null while the storage works. */
  get reason(): ApiError | null {
    return this.#reason
  }

  /** Suspends the storage, until it can be opened again. */
  begin(failure: StorageFailure): void {
    if (this.#reason || this.#isClosed) return
    this.#reason = this.toError(failure)
    this.role.log('error', 'storage-failed', { detail: failure.detail })
    if (this.role.outlivesOutages) this.#recoverLater()
  }

  /** The outcomes of a batch in doubt, once it is settled. Never, if nobody knows them: its clients are not answered. */
  promiseOutcomes(doubt: Doubt): Promise<readonly Outcome[]> {
    const promised = { ...doubt, ...Promise.withResolvers<readonly Outcome[]>() }
    this.#doubts.push(promised)
    return promised.promise
  }

  /** Ends the attempts to recover. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#recovery
  }

  #recoverLater(): void {
    setTimeout(() => {
      if (!this.#isClosed) this.#recovery = this.#recover()
    }, RETRY_MS)
  }

  async #recover(): Promise<void> {
    try {
      const connection = await this.reopen()
      for (const doubt of this.#doubts) {
        const outcomes = settle(doubt, connection)
        if (outcomes) doubt.resolve(outcomes)
      }
      this.#doubts = []
      this.#reason = null
      this.role.log('info', 'storage-recovered')
    } catch (error) {
      this.role.log('warn', 'storage-still-fails', { detail: String(error) })
      this.#recoverLater()
    }
  }
}
