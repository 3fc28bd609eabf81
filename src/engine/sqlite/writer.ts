// The serving thread's side of the committing thread: sends it batches, and knows the one reason that the storage
// cannot be written, if there is one. Requests, /health, metrics and the log read that.

import { InDoubtError, RequestError } from '../../errors'
import type { Level } from '../../log'
import { isPlantWrite } from '../commit/kinds'
import { DONE, isDone, type Outcome, type PlantWrite, type Write } from '../commit/write'
import { observeCommit, type StoreUser } from '../store-user'
import type { DatabaseToOpen, Reply, Request } from './committer'
import { DAMAGED_PAGE, type Failure, LOCKED, toError, toFailure } from './errors'

const LOOK_MS = 1000
// A disk that delays a commit for this long counts as unwritable.
const STALLED_MS = 10_000
const STALLED = 'the disk has confirmed no write for 10 s or more'
const IN_DOUBT = '; the last changes may or may not be on disk: run it again'

/** The events of the log for the begin and the end of a problem. */
type Events = readonly [Level, begins: string, Level, ends: string]
type Kind = Failure['kind'] | 'stalled'
const EVENTS: Readonly<Partial<Record<Kind, Events>>> = {
  stalled: ['error', 'disk-stalled', 'info', 'disk-resumed'],
  full: ['error', 'disk-full', 'info', 'writable-again'],
  busy: ['error', 'database-locked', 'info', 'database-unlocked'],
  // It ends with the process.
  moved: ['error', 'database-moved', 'info', 'writable-again'],
}
const OTHER: Events = ['error', 'cannot-write', 'info', 'writable-again']
/** The thread that commits to one database. Started by the first commit. */
export class Writer {
  /** True once a damaged page was met, until a restart: what needs it fails, and all else goes on. */
  isDamaged = false
  /** True once the disk has failed: this process must end, and close nothing. */
  isDead = false
  #thread: Worker | undefined
  /** Pending requests; they are answered in order. */
  #replies: ((reply: Reply) => void)[] = []
  #problem: { readonly kind: Kind; readonly since: number; readonly reason: RequestError } | null =
    null
  /** The writes that were refused: a smaller one may well succeed. */
  #refusedWrites: readonly PlantWrite[] = []
  #pendingSince: number | null = null
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
    return this.#problem?.kind === 'moved'
  }

  /** null: the storage can be written, as far as is known. */
  problem(): RequestError | null {
    return this.#problem?.reason ?? null
  }

  /** Starts the thread, which opens the database. */
  start(): void {
    this.#thread ??= this.#start()
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
    this.#pendingSince ??= startedAt
    this.#watch()
    const reply = await this.storeUser.deferSuspend(() => this.#request({ commit: batch }))
    this.#endWait()
    if (reply !== DONE && 'failure' in reply) throw await this.fail(reply.failure, batch)
    const outcomes = reply === DONE ? batch.map(() => DONE) : reply.outcomes
    if (reply !== DONE) this.#inspect(outcomes)
    if (this.#problem && this.#refusedWrites.length === 0) this.#end()
    observeCommit(this.storeUser, batch, outcomes, performance.now() - startedAt)
    return outcomes
  }

  /** The error of a failed write, or of a file that was moved. */
  async fail(failure: Failure, batch: readonly Write[] = []): Promise<Error> {
    const { kind, detail } = failure
    const isCommand = !this.storeUser.outlivesOutages
    const doubt = batch.length > 0 ? IN_DOUBT : ''
    if (kind === 'fatal') return this.#die(detail + (isCommand ? doubt : ''))
    if (isCommand)
      return toError(kind === 'in doubt' ? { kind, detail: detail + doubt } : failure, true)
    if (kind === 'damaged') this.noteDamage(detail)
    else this.#begin(kind === 'in doubt' ? { kind: 'moved', detail } : failure, batch)
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
    return reply !== DONE && 'failure' in reply ? reply.failure : null
  }

  #begin(failure: Failure, batch: readonly Write[]): void {
    const { kind } = failure
    if (kind === 'full' && batch.some(isPlantWrite))
      this.#refusedWrites = batch.filter(isPlantWrite)
    this.#watch()
    this.#note(kind, kind === 'busy' ? LOCKED : failure.detail, toError(failure))
  }

  #note(kind: Kind, detail: string, reason: RequestError): void {
    if (this.#problem?.kind === kind || this.isMoved) return
    this.#problem = { kind, since: performance.now(), reason }
    const [level, event] = EVENTS[kind] ?? OTHER
    this.storeUser.log(level, event, { detail })
  }

  #end(): void {
    if (!this.#problem || this.isMoved) return
    const { kind, since } = this.#problem
    this.#problem = null
    this.#refusedWrites = []
    const [, , level, event] = EVENTS[kind] ?? OTHER
    this.storeUser.log(level, event, { seconds: Math.round((performance.now() - since) / 1000) })
  }

  /** Looks each second, as long as there is a problem or a commit. */
  #watch(): void {
    if (!this.storeUser.outlivesOutages || this.#timer) return
    this.#timer = setInterval(() => this.#look(), LOOK_MS)
    this.#timer.unref()
  }

  #look(): void {
    if (this.#pendingSince !== null) {
      const isStalled = performance.now() - this.#pendingSince >= STALLED_MS
      if (isStalled && !this.#problem)
        this.#note('stalled', STALLED, new RequestError('storage failed', STALLED))
    } else if (this.#problem && !this.isMoved) void this.#rehearse()
    else {
      clearInterval(this.#timer)
      this.#timer = undefined
    }
  }

  /** Tries again what was refused, without storing it. */
  async #rehearse(): Promise<void> {
    this.#pendingSince = performance.now()
    const reply = await this.#request({ rehearse: this.#refusedWrites })
    this.#endWait()
    if (reply !== DONE && 'failure' in reply) await this.fail(reply.failure)
    else this.#end()
  }

  #endWait(): void {
    this.#pendingSince = null
    if (this.#problem?.kind === 'stalled') this.#end()
  }

  /** Notes the refusals of writes that need a damaged page. */
  #inspect(outcomes: readonly Outcome[]): void {
    const isDamage = (outcome: Outcome) => !isDone(outcome) && outcome.error === 'storage failed'
    if (outcomes.some(isDamage)) this.noteDamage(DAMAGED_PAGE)
  }

  #die(detail: string): Promise<Error> | Error {
    // A failed checkpoint may be followed by a failed commit.
    const isFirst = !this.isDead
    this.isDead = true
    clearInterval(this.#timer)
    const { outlivesOutages, log, onDiskFailure } = this.storeUser
    if (!outlivesOutages) return toError({ kind: 'fatal', detail }, true)
    if (isFirst) log('error', 'storage-failed', { detail })
    if (isFirst) onDiskFailure(detail)
    return new Promise(() => {})
  }

  #request(request: Request): Promise<Reply> {
    const { promise, resolve } = Promise.withResolvers<Reply>()
    try {
      if (this.isDead) throw new Error('the disk has failed')
      this.#thread ??= this.#start()
      this.#replies.push(resolve)
      this.#thread.postMessage(JSON.stringify(request))
    } catch (error) {
      resolve({ failure: toFailure(error, this.database.path) })
    }
    return promise
  }

  #start(): Worker {
    const thread = new Worker(new URL('./thread.ts', import.meta.url).href, { smol: true })
    let hasAnswered = false
    thread.onmessage = ({ data }: MessageEvent<string>) => {
      const reply: Reply = JSON.parse(data)
      hasAnswered = true
      const answer = this.#replies.shift()
      if (answer) answer(reply)
      else if (reply !== DONE && 'failure' in reply) void this.fail(reply.failure)
    }
    thread.onerror = ({ message }) => {
      // Before its first answer it has opened the database at most.
      const kind = hasAnswered ? 'fatal' : 'refused'
      const detail = `the committing thread died: ${message}`
      this.#thread = undefined
      for (const answer of this.#replies.splice(0)) answer({ failure: { kind, detail } })
    }
    // Each request opens the database, unless that has succeeded.
    this.#replies.push(() => {})
    thread.postMessage(JSON.stringify({ open: this.database } satisfies Request))
    return thread
  }
}
