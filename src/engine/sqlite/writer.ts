// The serving thread's side of the committing thread: sends it batches, and knows the one reason that the storage
// cannot be written, if there is one. Requests, /health, metrics and the log read that.

import { messageOf } from '../../errors'
import { InDoubtError, RequestError } from '../../request-errors'
import { DONE, type Outcome, type Write } from '../commit/write'
import { observeCommit, type StoreUser } from '../store-user'
import type { Reply, Request } from './committer'
import { type Failure, toError, toFailure } from './errors'
import type { WatchedFiles } from './files'

// Interval of rehearsals while there is a problem, and of the look for a stalled commit.
const TICK_MS = 1000
// A disk that delays a commit for so many ticks counts as unwritable.
const STALLED_TICKS = 10
const STALLED: Failure = {
  kind: 'stalled',
  detail: 'the disk has confirmed no write for 10 s or more',
}
const MOVED: Failure = {
  kind: 'moved',
  detail:
    'the database, its -wal or its -shm was moved, replaced or removed; put it back, and restart plantstore',
}

/** The events of the log at the beginning of a problem. */
const EVENTS: Readonly<Record<string, readonly ['error', string]>> = {
  stalled: ['error', 'disk-stalled'],
  full: ['error', 'disk-full'],
  busy: ['error', 'database-locked'],
  moved: ['error', 'database-moved'],
  damaged: ['error', 'database-damaged'],
}

/** The thread that commits to one database. */
export class Writer {
  /** The failure of the disk, if it has failed: this process must end, and close nothing. */
  fatal: Failure | null = null
  isClosed = false
  /** The cursor of the last entry of the change log that a commit has added. */
  lastCursor: string | undefined
  #thread: Worker | undefined
  /** Called with the replies to pending requests, in order. */
  #pending: ((reply: Reply) => void)[] = []
  /** The reason that the storage cannot be written; null if none is known. */
  #problem: Failure | null = null
  #timer: Timer | undefined
  /** The number of ticks since the last reply. */
  #ticks = 0

  constructor(
    private readonly path: string,
    private readonly files: WatchedFiles,
    private readonly storeUser: StoreUser,
  ) {}

  /** Throws if the thread cannot be started. */
  #start(): Worker {
    const file = new URL('./committer.ts', import.meta.url)
    const thread = new Worker(file, { smol: true, argv: [this.path] })
    thread.onmessage = ({ data }) => this.#receive(JSON.parse(data))
    thread.onerror = ({ message }) =>
      this.#receive({
        failure: { kind: 'fatal', detail: `the committing thread died: ${message}` },
      })
    return thread
  }

  #receive(reply: Reply): void {
    const answer = this.#pending.shift()
    this.#ticks = 0
    if (answer) answer(reply)
    else if (reply.failure) void this.#fail(reply.failure)
  }

  /** Returns the reason that the storage cannot be written, or null if none is known. */
  problem(): RequestError | null {
    return this.#problem && !this.isDamaged ? toError(this.#problem) : null
  }

  /** True once a damaged page was met: what needs it fails, and all else goes on. */
  get isDamaged(): boolean {
    return this.#problem?.kind === 'damaged'
  }

  /**
   * Makes a batch durable. Rejects if nothing was stored: `busy`, `storage failed` or `disk full`. If the disk fails, a
   * daemon ends, and the promise never settles; a command gets an error that says so.
   */
  async commit(batch: readonly Write[]): Promise<readonly Outcome[]> {
    if (this.isClosed) throw new RequestError('storage failed')
    if (this.findMoved()) throw await this.#fail(MOVED)
    const startedAt = performance.now()
    const reply = await this.storeUser.deferSuspend(() => this.#request(batch))
    if (reply.failure) throw await this.#fail(reply.failure)
    // The commit comes back with the file, or not.
    if (this.findMoved()) throw await this.#fail(MOVED, true)
    if (this.fatal) throw await this.#fail(this.fatal)
    const outcomes = reply.outcomes ?? batch.map(() => DONE)
    if (reply.damage) this.note(reply.damage)
    // A smaller write may fit on a full disk: what it refused is rehearsed.
    if (this.#problem?.kind !== 'full') this.#end()
    this.lastCursor = reply.cursor ?? this.lastCursor
    observeCommit(this.storeUser, batch, outcomes, performance.now() - startedAt)
    return outcomes
  }

  /**
   * Looks for the files, and notes that one was moved. Returns true from then on, until a restart; each look copies what
   * the log still holds into the database. If that fails, such as on a full disk, this process goes on: only it has the
   * log. The disk has failed if the files cannot be looked at.
   */
  findMoved(): boolean {
    try {
      if (this.#hasMoved || this.files.isMoved()) {
        this.note(MOVED)
        this.files.saveLog()
      }
    } catch (error) {
      if (!this.#hasMoved) this.#die(messageOf(error))
    }
    return this.#hasMoved
  }

  /** Tries again what a full disk has refused, or else an empty change, without storing it. */
  async rehearse(): Promise<void> {
    const { failure } = await this.#request('rehearse')
    if (failure) await this.#fail(failure)
    else this.#end()
  }

  /**
   * Notes a problem. A moved file stays noted until a restart, a full disk until what it refused fits; damage gives way to
   * any other problem.
   */
  note({ kind, detail }: Failure): void {
    const before = this.#problem?.kind
    if (this.#hasMoved || (before === 'full' && kind !== 'moved')) return
    if (before && kind === 'damaged') return
    if (before !== kind)
      this.storeUser.log(...(EVENTS[kind] ?? ['error', 'cannot-write']), { detail })
    this.#problem = { kind, detail }
  }

  /** Closes the database in the thread, which waits for the disk. Resolves to the reason if that fails. */
  async close(): Promise<Failure | undefined> {
    this.isClosed = true
    const { failure } = await this.#request('close')
    clearInterval(this.#timer)
    this.#thread?.terminate()
    return failure
  }

  get #hasMoved(): boolean {
    return this.#problem?.kind === 'moved'
  }

  /** The error of a failed request. */
  async #fail(failure: Failure, isInDoubt = failure.kind === 'fatal'): Promise<Error> {
    const { kind, detail } = failure
    if (kind === 'fatal') this.#die(detail)
    if (!this.storeUser.outlivesOutages) return toError(failure, { isInDoubt })
    // The daemon is about to end, and answers nothing.
    if (kind === 'fatal') return new Promise(() => {})
    this.note(failure)
    return isInDoubt ? new InDoubtError(detail) : toError(failure)
  }

  #end(): void {
    if (!this.problem() || this.#hasMoved) return
    this.#problem = null
    this.storeUser.log('info', 'writable-again')
  }

  #die(detail: string): void {
    // A failed checkpoint may be followed by a failed commit.
    if (this.fatal) return
    this.fatal = { kind: 'fatal', detail: `the disk has failed: ${detail}` }
    const { outlivesOutages, log, onDiskFailure } = this.storeUser
    if (!outlivesOutages) return
    log('error', 'storage-failed', {
      detail: `${detail}; check the disk, then start plantstore again`,
    })
    onDiskFailure()
  }

  /** Each second while a request is pending, or there is a problem. */
  #tick(): void {
    this.#ticks += 1
    if (this.#pending.length > 0) {
      if (this.#ticks >= STALLED_TICKS && !this.problem()) this.note(STALLED)
    } else if (this.problem() && !this.#hasMoved) void this.rehearse()
    else {
      clearInterval(this.#timer)
      this.#timer = undefined
    }
  }

  async #request(request: Request): Promise<Reply> {
    if (this.fatal) return { failure: this.fatal }
    this.#timer ??= setInterval(() => this.#tick(), TICK_MS).unref()
    return new Promise<Reply>((resolve) => {
      this.#thread ??= this.#start()
      this.#pending.push(resolve)
      this.#thread.postMessage(JSON.stringify(request))
    }).catch((error) => ({ failure: toFailure(error, this.path) }))
  }
}
