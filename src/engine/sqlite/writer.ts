// The serving thread's side of the committing thread: sends it batches, and knows the one reason that the storage
// cannot be written, if there is one. Requests, /health, metrics and the log read that.

import { InDoubtError, type RequestError } from '../../request-errors'
import { isPlantWrite } from '../commit/kinds'
import { DONE, isDone, type Outcome, type PlantWrite, type Write } from '../commit/write'
import { observeCommit, type StoreUser } from '../store-user'
import type { DatabaseToOpen, Reply, Request } from './committer'
import { DAMAGED_PAGE, type Failure, toError, toFailure } from './errors'

// Interval of looks at a commit that is pending, or at a problem.
const LOOK_MS = 1000
// A disk that delays a commit for this long counts as unwritable.
const STALLED_MS = 10_000
const STALLED = 'the disk has confirmed no write for 10 s or more'

/** The events of the log at the beginning of a problem. */
const EVENTS: Readonly<Partial<Record<Failure['kind'], readonly ['error', string]>>> = {
  stalled: ['error', 'disk-stalled'],
  full: ['error', 'disk-full'],
  busy: ['error', 'database-locked'],
  moved: ['error', 'database-moved'],
}
const OTHER = ['error', 'cannot-write'] as const

/** A reason that the storage cannot be written. `refused`: the writes to try again; a smaller one may well succeed. */
type Problem = {
  readonly failure: Failure
  readonly since: number
  readonly refused: readonly PlantWrite[]
}

/** The thread that commits to one database. Started by the first commit. */
export class Writer {
  /** True once a damaged page was met, until a restart: what needs it fails, and all else goes on. */
  isDamaged = false
  /** True once the disk has failed: this process must end, and close nothing. */
  isDead = false
  /** The cursor of the last entry of the change log that a commit has added. */
  lastCursor: string | undefined
  #thread: Worker | undefined
  /** Pending requests; they are answered in order. */
  #pending: { readonly since: number; readonly answer: (reply: Reply) => void }[] = []
  #problem: Problem | null = null
  #timer: Timer | undefined

  constructor(
    private readonly database: DatabaseToOpen,
    private readonly storeUser: StoreUser,
  ) {}

  get isStarted(): boolean {
    return this.#thread !== undefined
  }

  /** True once a file was moved or removed: nothing is written until a restart. */
  get isMoved(): boolean {
    return this.#problem?.failure.kind === 'moved'
  }

  /** Returns the reason that the storage cannot be written, or null if none is known. */
  problem(): RequestError | null {
    return this.#problem && toError(this.#problem.failure)
  }

  /**
   * Makes a batch durable. Rejects if nothing was stored: `busy`, `cannot write` or `disk full`. If the disk fails, a
   * daemon ends, and the promise never settles; a command gets an error that says so.
   */
  async commit(batch: readonly Write[]): Promise<readonly Outcome[]> {
    if (this.isMoved) throw this.problem()
    // The daemon is about to end, and answers nothing.
    if (this.isDead && this.storeUser.outlivesOutages) return new Promise(() => {})
    const startedAt = performance.now()
    this.#watch()
    const {
      outcomes: all,
      cursor,
      failure,
    } = await this.storeUser.deferSuspend(() => this.#request({ commit: batch }))
    if (failure) throw await this.fail(failure, batch)
    this.lastCursor = cursor ?? this.lastCursor
    const outcomes = all ?? batch.map(() => DONE)
    if (outcomes.some((outcome) => !isDone(outcome) && outcome.error === 'storage failed'))
      this.noteDamage(DAMAGED_PAGE)
    if (!this.#problem?.refused.length) this.#end()
    observeCommit(this.storeUser, batch, outcomes, performance.now() - startedAt)
    return outcomes
  }

  /** The error of a failed write, or of a file that was moved. */
  async fail(failure: Failure, batch: readonly Write[] = []): Promise<Error> {
    const { kind, detail } = failure
    if (kind === 'fatal') this.#die(detail)
    if (!this.storeUser.outlivesOutages) return toError(failure, true)
    if (kind === 'fatal') return new Promise(() => {})
    if (kind === 'damaged') this.noteDamage(detail)
    else if (kind === 'in doubt') this.#note({ kind: 'moved', detail })
    else this.#note(failure, kind === 'full' ? batch.filter(isPlantWrite) : [])
    return kind === 'in doubt' ? new InDoubtError(detail) : toError(failure)
  }

  noteDamage(detail: string): void {
    if (!this.isDamaged) this.storeUser.log('error', 'database-damaged', { detail })
    this.isDamaged = true
  }

  /** Closes the database in the thread, which waits for the disk. Resolves to the reason if that fails. */
  async close(keepsLog: boolean): Promise<Failure | null> {
    clearInterval(this.#timer)
    if (!this.isStarted) return null
    const reply = await this.#request({ close: true, keepsLog })
    this.#thread?.terminate()
    return reply.failure ?? null
  }

  #note({ kind, detail }: Problem['failure'], refused: readonly PlantWrite[] = []): void {
    if (this.isMoved) return
    this.#watch()
    const last = this.#problem
    this.#problem = {
      failure: { kind, detail },
      since: last?.since ?? performance.now(),
      refused: refused.length > 0 ? refused : (last?.refused ?? []),
    }
    if (last?.failure.kind !== kind) this.storeUser.log(...(EVENTS[kind] ?? OTHER), { detail })
  }

  #end(): void {
    if (!this.#problem || this.isMoved) return
    const seconds = Math.round((performance.now() - this.#problem.since) / 1000)
    this.#problem = null
    this.storeUser.log('info', 'writable-again', { seconds })
  }

  /** Looks each second, as long as there is a problem or a commit. */
  #watch(): void {
    if (!this.storeUser.outlivesOutages || this.#timer) return
    this.#timer = setInterval(() => this.#look(), LOOK_MS)
    this.#timer.unref()
  }

  #look(): void {
    const [oldest] = this.#pending
    if (oldest) {
      const isStalled = performance.now() - oldest.since >= STALLED_MS
      if (isStalled && !this.#problem) this.#note({ kind: 'stalled', detail: STALLED })
    } else if (this.#problem && !this.isMoved) void this.rehearse()
    else {
      clearInterval(this.#timer)
      this.#timer = undefined
    }
  }

  /** Tries again what was refused, or at a start an empty change, without storing it. */
  async rehearse(): Promise<void> {
    const { failure } = await this.#request({ rehearse: this.#problem?.refused ?? [] })
    if (failure) await this.fail(failure)
    else this.#end()
  }

  #die(detail: string): void {
    // A failed checkpoint may be followed by a failed commit.
    if (this.isDead) return
    this.isDead = true
    clearInterval(this.#timer)
    const { outlivesOutages, log, onDiskFailure } = this.storeUser
    if (!outlivesOutages) return
    log('error', 'storage-failed', {
      detail: `${detail}; check the disk, then start plantstore again`,
    })
    onDiskFailure()
  }

  #request(request: Request): Promise<Reply> {
    const { promise, resolve } = Promise.withResolvers<Reply>()
    try {
      if (this.isDead) throw new Error('the disk has failed')
      this.#thread ??= this.#start()
      this.#pending.push({ since: performance.now(), answer: resolve })
      this.#thread.postMessage(JSON.stringify(request))
    } catch (error) {
      resolve({ failure: toFailure(error, this.database.path) })
    }
    return promise
  }

  #start(): Worker {
    const thread = new Worker(new URL('./committer.ts', import.meta.url).href, { smol: true })
    thread.onmessage = ({ data }: MessageEvent<string>) => {
      const reply: Reply = JSON.parse(data)
      const request = this.#pending.shift()
      if (request) request.answer(reply)
      else if (reply.failure) void this.fail(reply.failure)
    }
    thread.onerror = ({ message }) => {
      const failure = { kind: 'fatal', detail: `the committing thread died: ${message}` } as const
      void this.fail(failure)
      for (const { answer } of this.#pending.splice(0)) answer({ failure })
    }
    // Each request opens the database, unless that has succeeded.
    this.#pending.push({ since: performance.now(), answer: () => {} })
    thread.postMessage(JSON.stringify({ open: this.database } satisfies Request))
    return thread
  }
}
