// An outage of the storage. Phases:
// - begin: a write or sync has failed. The page cache may differ from the disk, so nothing is read or written.
// - recover, each second: everything is closed, read from the disk again, and written once.
// - settle: batches in doubt get their outcomes (settle.ts), and the outage ends.
// A command ends with an error instead of recovering.

import type { RequestError } from '../../../errors'
import type { Outcome } from '../../commit/write'
import type { StoreUser } from '../../store-user'
import type { StorageFailure } from '../file/errors'
import type { ServingConnection } from '../reading/connection'
import { type Doubt, settle } from './settle'

const RETRY_MS = 1000

/** The outages of one storage. */
export class Outage {
  #reason: RequestError | null = null
  /** Batches in doubt, and the probes sent after them. */
  #doubts: (Doubt & PromiseWithResolvers<readonly Outcome[]>)[] = []
  #recovery: Promise<void> | undefined
  #isClosed = false

  /** `reopen` closes everything, and reads it from the disk again. */
  constructor(
    private readonly storeUser: StoreUser,
    private readonly toError: (failure: StorageFailure) => RequestError,
    private readonly reopen: () => Promise<ServingConnection>,
  ) {}

  /** The reason that reads and writes are suspended; null if they are not. */
  get reason(): RequestError | null {
    return this.#reason
  }

  /** Suspends the storage until it can be reopened. */
  begin(failure: StorageFailure): void {
    if (this.#reason || this.#isClosed) return
    this.#reason = this.toError(failure)
    this.storeUser.log('error', 'storage-failed', { detail: failure.detail })
    if (this.storeUser.outlivesOutages) this.#recoverLater()
  }

  /**
   * The outcomes of a batch in doubt, once it is settled. If they cannot be known, it never resolves, and its clients
   * get no answer.
   */
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
      this.storeUser.log('info', 'storage-recovered')
    } catch (error) {
      this.storeUser.log('warn', 'storage-still-fails', { detail: String(error) })
      this.#recoverLater()
    }
  }
}
