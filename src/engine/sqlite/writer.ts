// The serving thread's side of the committing thread: sends it batches, and knows the one reason that the storage
// cannot be written, if there is one. Requests, /health, metrics and the log read that.

import { InDoubtError, RequestError } from '../../request-errors'
import { DONE, isDone, type Outcome, type Write } from '../commit/write'
import { observeCommit, type StoreUser } from '../store-user'
import type { DatabaseToOpen, Reply, Request } from './committer'
import { DAMAGED_PAGE, type Failure, toError } from './errors'

// Interval of rehearsals while there is a problem.
const REHEARSE_EVERY_MS = 1000
// A disk that delays a commit for this long counts as unwritable.
const STALLED_MS = 10_000
const STALLED = 'the disk has confirmed no write for 10 s or more'

/** The events of the log at the beginning of a problem. */
const EVENTS: Readonly<Record<string, readonly ['error', string]>> = {
  stalled: ['error', 'disk-stalled'],
  full: ['error', 'disk-full'],
  busy: ['error', 'database-locked'],
  moved: ['error', 'database-moved'],
}
const OTHER = ['error', 'cannot-write'] as const

/** The thread that commits to one database. */
export class Writer {
  /** True once a damaged page was met, until a restart: what needs it fails, and all else goes on. */
  isDamaged = false
  /** True once the disk has failed: this process must end, and close nothing. */
  isDead = false
  isClosed = false
  /** The cursor of the last entry of the change log that a commit has added. */
  lastCursor: string | undefined
  readonly #thread: Worker
  /** Called with the replies to pending requests, in order. */
  #pending: ((reply: Reply) => void)[] = []
  /** The reason that the storage cannot be written; null if none is known. */
  #problem: Failure | null = null
  #problemSince = 0
  #rehearsals: Timer | undefined

  /** Throws if the thread cannot be started. */
  constructor(
    database: DatabaseToOpen,
    private readonly storeUser: StoreUser,
  ) {
    const file = new URL('./committer.ts', import.meta.url).href
    this.#thread = new Worker(file, { smol: true, argv: [JSON.stringify(database)] })
    this.#thread.onmessage = ({ data }: MessageEvent<string>) => {
      const reply: Reply = JSON.parse(data)
      const answer = this.#pending.shift()
      if (answer) answer(reply)
      else if (reply.failure) void this.#fail(reply.failure)
    }
    this.#thread.onerror = ({ message }) => {
      const failure = { kind: 'fatal', detail: `the committing thread died: ${message}` } as const
      void this.#fail(failure)
      for (const answer of this.#pending.splice(0)) answer({ failure })
    }
  }

  /** Returns the reason that the storage cannot be written, or null if none is known. */
  problem(): RequestError | null {
    return this.#problem && toError(this.#problem)
  }

  /**
   * Makes a batch durable. Rejects if nothing was stored: `busy`, `storage failed` or `disk full`. If the disk fails, a
   * daemon ends, and the promise never settles; a command gets an error that says so.
   */
  async commit(batch: readonly Write[]): Promise<readonly Outcome[]> {
    if (this.isClosed) throw new RequestError('storage failed')
    if (this.#isMoved) throw this.problem()
    const startedAt = performance.now()
    const reply = await this.storeUser.deferSuspend(() => this.#request(batch))
    if (reply.failure) throw await this.#fail(reply.failure)
    const outcomes = reply.outcomes ?? batch.map(() => DONE)
    if (outcomes.some((outcome) => !isDone(outcome) && outcome.error === 'storage failed'))
      this.noteDamage(DAMAGED_PAGE)
    // A smaller write may fit on a full disk: what it refused is rehearsed.
    if (this.#problem?.kind !== 'full') this.#end()
    this.lastCursor = reply.cursor ?? this.lastCursor
    observeCommit(this.storeUser, batch, outcomes, performance.now() - startedAt)
    return outcomes
  }

  /** Tries again what a full disk has refused, or else an empty change, without storing it. */
  async rehearse(): Promise<void> {
    const { failure } = await this.#request('rehearse')
    if (failure) await this.#fail(failure)
    else this.#end()
  }

  noteDamage(detail: string): void {
    if (!this.isDamaged) this.storeUser.log('error', 'database-damaged', { detail })
    this.isDamaged = true
  }

  /** Notes a problem. That a file was moved stays until a restart, a full disk until what it refused fits. */
  note({ kind, detail }: Failure): void {
    if (this.#isMoved || (this.#problem?.kind === 'full' && kind !== 'moved')) return
    this.#rehearsals ??= setInterval(() => {
      if (this.#pending.length === 0 && !this.#isMoved) void this.rehearse()
    }, REHEARSE_EVERY_MS).unref()
    if (!this.#problem) this.#problemSince = performance.now()
    if (this.#problem?.kind !== kind) this.storeUser.log(...(EVENTS[kind] ?? OTHER), { detail })
    this.#problem = { kind, detail }
  }

  /** Closes the database in the thread, which waits for the disk. Resolves to the reason if that fails. */
  async close(): Promise<Failure | undefined> {
    clearInterval(this.#rehearsals)
    this.isClosed = true
    const { failure } = await this.#request('close')
    this.#thread.terminate()
    return failure
  }

  /** Nothing is written until a restart. */
  get #isMoved(): boolean {
    return this.#problem?.kind === 'moved'
  }

  /** The error of a failed request. */
  async #fail(failure: Failure): Promise<Error> {
    const { kind, detail } = failure
    if (kind === 'fatal') this.#die(detail)
    if (!this.storeUser.outlivesOutages) return toError(failure, true)
    // The daemon is about to end, and answers nothing.
    if (kind === 'fatal') return new Promise(() => {})
    if (kind === 'damaged') this.noteDamage(detail)
    else this.note(kind === 'in doubt' ? { kind: 'moved', detail } : failure)
    return kind === 'in doubt' ? new InDoubtError(detail) : toError(failure)
  }

  #end(): void {
    if (!this.#problem || this.#isMoved) return
    const seconds = Math.round((performance.now() - this.#problemSince) / 1000)
    this.#problem = null
    clearInterval(this.#rehearsals)
    this.#rehearsals = undefined
    this.storeUser.log('info', 'writable-again', { seconds })
  }

  #die(detail: string): void {
    // A failed checkpoint may be followed by a failed commit.
    if (this.isDead) return
    this.isDead = true
    clearInterval(this.#rehearsals)
    const { outlivesOutages, log, onDiskFailure } = this.storeUser
    if (!outlivesOutages) return
    log('error', 'storage-failed', {
      detail: `${detail}; check the disk, then start plantstore again`,
    })
    onDiskFailure()
  }

  #request(request: Request): Promise<Reply> {
    if (this.isDead)
      return Promise.resolve({ failure: { kind: 'fatal', detail: 'the disk has failed' } })
    const { promise, resolve } = Promise.withResolvers<Reply>()
    const stall = setTimeout(() => {
      if (!this.#problem && this.storeUser.outlivesOutages)
        this.note({ kind: 'stalled', detail: STALLED })
    }, STALLED_MS).unref()
    this.#pending.push((reply) => {
      clearTimeout(stall)
      resolve(reply)
    })
    this.#thread.postMessage(JSON.stringify(request))
    return promise
  }
}
