// Reads that take many turns of the event loop, each as of one moment: in a transaction on a connection of its own.

import type { Database } from 'bun:sqlite'
import { clientGone, RequestError } from '../../../errors'
import { MAX_WAITING_READS, TOO_MANY_READS } from '../../page'

/** Reads in slices: yields after each. */
type Slices<T> = Generator<void, T>

/** Gives a slice its turn. */
type RunSlice = <T>(slice: () => Promise<T>, signal?: AbortSignal) => Promise<T>

/** Access to a store: `use` refuses while the store cannot be read, and maps errors. */
type Access = {
  readonly connect: () => Database
  readonly use: <T>(act: () => T) => Promise<T>
}

function* inTransaction<T>(connect: () => Database, read: (db: Database) => Slices<T>): Slices<T> {
  using db = connect()
  db.run('BEGIN')
  return yield* read(db)
}

/** The snapshot reads of a store. Only one is open at any time, so that they need few files. */
export class SnapshotReads {
  #current: Slices<unknown> | null = null
  #last: Promise<void> = Promise.resolve()
  #waiting = 0

  constructor(private readonly access: Access) {}

  /** Reads as of one moment. Rejects with `busy` if too many are queued, or if the signal is aborted meanwhile. */
  async read<T>(
    read: (db: Database) => Slices<T>,
    run: RunSlice,
    signal?: AbortSignal,
  ): Promise<T> {
    if (this.#waiting === MAX_WAITING_READS) throw new RequestError('busy', TOO_MANY_READS)
    const previous = this.#last
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#last = promise
    this.#waiting += 1
    try {
      await previous
      return await this.#read(inTransaction(this.access.connect, read), run, signal)
    } finally {
      this.#waiting -= 1
      resolve()
    }
  }

  /** Ends the read that is open; it rejects. */
  end(): void {
    this.#current?.return(undefined)
    this.#current = null
  }

  async #read<T>(slices: Slices<T>, run: RunSlice, signal?: AbortSignal): Promise<T> {
    this.#current = slices
    try {
      for (;;) {
        const { done, value } = await run(() => this.access.use(() => this.#next(slices)), signal)
        if (done) return value
        // A slice in each turn of the event loop: creates beside it keep their pace (bench: tags).
        await new Promise((resolve) => setImmediate(resolve))
        if (signal?.aborted) throw clientGone()
      }
    } finally {
      if (this.#current === slices) this.end()
    }
  }

  #next<T>(slices: Slices<T>): IteratorResult<void, T> {
    // The storage was closed, and may be open again.
    if (this.#current !== slices) throw new RequestError('cannot read')
    return slices.next()
  }
}
