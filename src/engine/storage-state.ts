// The state of a storage: the one answer to "can it be written?". Sources report events; a table says which causes each
// event begins or ends. Requests, /health, metrics and the log read the state of the worst cause.

import { RequestError } from '../errors'
import type { Level, Log } from '../log'

/**
 * A failure of the storage. `busy`: another process locks the database. `altered`: another program has changed the
 * schema so that writes may be discarded or altered. `barred`: no plant can be created, for example because another
 * program has added a constraint, or a server refuses the statement. `damaged`: a page is damaged or cannot be read.
 */
export type StorageFailure = {
  readonly kind: 'full' | 'busy' | 'failed' | 'altered' | 'barred' | 'damaged'
  readonly detail: string
  /** The answer of a server. */
  readonly sqlstate?: string
}

/** The reasons that a storage cannot be written, worst first; and `damaged`, in which it can. */
export const CAUSES = [
  /** A commit has failed, and only the disk knows whether it was made. */
  'in doubt',
  /**
   * A write or sync has failed, or the connection to the server: nothing is read or written until all was read from the
   * disk again, or a server was found.
   */
  'failing',
  /** Another program has altered the tables of a server, so that writes may be lost: none is tried. */
  'unsafe',
  /** A write has been unanswered for too long. */
  'stalled',
  /** Another program holds the write lock. */
  'locked',
  /** The write-ahead log cannot be copied into the database, and grows. */
  'checkpoint',
  /** The disk is full. */
  'full',
  /** Writes are refused, although a smaller one may succeed. */
  'refused',
  /** A page is damaged: what needs it fails, and all else goes on. */
  'damaged',
] as const

export type Cause = (typeof CAUSES)[number]
export type State = Exclude<Cause, 'checkpoint'> | 'writable'

type FailureSource = 'commit' | 'doubt' | 'read' | 'trial' | 'tables' | 'checkpoint' | 'stall'

/** The cause that a failure begins, by its source. */
const BEGINS: Readonly<
  Record<FailureSource, Readonly<Partial<Record<StorageFailure['kind'], readonly Cause[]>>>>
> = {
  commit: {
    failed: ['failing'],
    full: ['full'],
    busy: ['locked'],
    altered: ['refused'],
    barred: ['refused'],
    damaged: ['damaged'],
  },
  doubt: {
    failed: ['in doubt', 'failing'],
    full: ['in doubt', 'failing'],
    damaged: ['in doubt', 'failing'],
  },
  read: {
    failed: ['failing'],
    full: ['full'],
    altered: ['refused'],
    barred: ['refused'],
    damaged: ['damaged'],
  },
  trial: {
    failed: ['refused'],
    full: ['full'],
    busy: ['locked'],
    altered: ['refused'],
    barred: ['refused'],
    damaged: ['damaged', 'refused'],
  },
  tables: { altered: ['unsafe'] },
  checkpoint: {
    failed: ['failing', 'checkpoint'],
    full: ['checkpoint'],
    busy: ['checkpoint'],
    damaged: ['failing', 'checkpoint'],
  },
  stall: { failed: ['stalled'] },
}

/** The causes that a success ends. */
const ENDS = {
  /**
   * All was closed, read from the disk again, and written; or a server was found. The outcomes of commits in doubt are
   * known.
   */
  reopened: ['in doubt', 'failing', 'checkpoint'],
  unlocked: ['locked'],
  /** The tables are as expected. */
  safe: ['unsafe'],
  /** A trial as large as a create was written and rolled back. */
  tried: ['full', 'refused', 'locked'],
  checkpointed: ['checkpoint'],
  answered: ['stalled'],
  /** The whole file was read. */
  whole: ['damaged'],
} as const satisfies Readonly<Record<string, readonly Cause[]>>

export type Success = keyof typeof ENDS

/** `since`: when the failure began, if earlier than now, on the clock of the state. */
export type StorageEvent =
  | { readonly source: FailureSource; readonly failure: StorageFailure; readonly since?: number }
  | Success

/** Ways to end a cause. The others end by themselves, such as a stall when the disk answers. */
export type Attempt = 'reopen' | 'lock' | 'trial'

const ATTEMPTS: Readonly<Partial<Record<Cause, Attempt>>> = {
  'in doubt': 'reopen',
  failing: 'reopen',
  locked: 'lock',
  full: 'trial',
  refused: 'trial',
}

/** The causes in which an act is refused untried. */
const REFUSES = {
  read: ['in doubt', 'failing'],
  trial: ['in doubt', 'failing', 'locked'],
  write: ['in doubt', 'failing', 'unsafe', 'locked'],
  /** A write that waits until a lost server is found. */
  queuedWrite: ['unsafe'],
} as const satisfies Readonly<Record<string, readonly Cause[]>>

export type Act = keyof typeof REFUSES

type ActiveCause = { readonly failure: StorageFailure; readonly since: number }

/** The causes of a state. */
export type Causes = Readonly<Partial<Record<Cause, ActiveCause>>>

/** The causes after an event. A continuing failure keeps its start time. */
export function transition(causes: Causes, event: StorageEvent, now: number): Causes {
  if (typeof event === 'string') {
    const endedCauses: readonly Cause[] = ENDS[event]
    if (!endedCauses.some((cause) => causes[cause])) return causes
    const rest = Object.entries(causes).filter(([cause]) => !endedCauses.includes(cause as Cause))
    return Object.fromEntries(rest)
  }
  const { source, failure, since = now } = event
  const next: Partial<Record<Cause, ActiveCause>> = { ...causes }
  for (const cause of BEGINS[source][failure.kind] ?? []) {
    next[cause] = { failure, since: next[cause]?.since ?? since }
  }
  return next
}

/** The worst cause; null if there is none. */
export const worstOf = (causes: Causes): Cause | null =>
  CAUSES.find((cause) => causes[cause]) ?? null

export function stateOf(causes: Causes): State {
  const cause = worstOf(causes) ?? 'writable'
  return cause === 'checkpoint' ? 'full' : cause
}

/** The cause for which an act is refused untried; null if it is tried. */
export function refusalOf(causes: Causes, act: Act): Cause | null {
  const refusing: readonly Cause[] = REFUSES[act]
  const worst = refusing.find((cause) => causes[cause])
  if (worst) return worst
  // Another try would suspend the storage again.
  return act === 'write' && causes.refused?.failure.kind === 'failed' ? 'refused' : null
}

/** The attempt that may end the worst cause that one can end; null if there is none. */
export function attemptOf(causes: Causes): Attempt | null {
  for (const cause of CAUSES) {
    const attempt = causes[cause] && ATTEMPTS[cause]
    if (attempt) return attempt
  }
  return null
}

type LogEvents = readonly [beginLevel: Level, begins: string, endLevel: Level, ends: string]

/** The events of the log for the begin and the end of each cause. Other causes are logged by their sources. */
export type Events = Readonly<Partial<Record<Cause, LogEvents>>>

/** The events of a file. A doubt is part of a failure. */
const FILE_EVENTS: Events = {
  failing: ['error', 'storage-failed', 'info', 'storage-recovered'],
  stalled: ['error', 'disk-stalled', 'info', 'disk-resumed'],
  locked: ['error', 'database-locked', 'info', 'database-unlocked'],
  checkpoint: ['error', 'checkpoint-failed', 'info', 'checkpoint-recovered'],
  full: ['error', 'disk-full', 'info', 'writable-again'],
  refused: ['error', 'cannot-write', 'info', 'writable-again'],
  damaged: ['error', 'database-damaged', 'info', 'database-whole'],
}

// A full disk refuses every change, and may be nearly full for long: these are logged no more often than this.
const REPEATED: readonly Cause[] = ['full', 'refused']
const LOGGED_EVERY_MS = 60_000

/** A server's refusals are logged for each SQLSTATE. */
const keyOf = (cause: Cause, { sqlstate = '' }: StorageFailure): string => cause + sqlstate

/** Settings of {@link StorageState}. */
type Settings = {
  readonly log: Log
  /** Default: those of a file. */
  readonly events?: Events
  /** The error of a failure for clients, or for the user of a command; and the seconds since it began. */
  readonly toError: (failure: StorageFailure, seconds: number) => RequestError
  /** The name of the storage in messages. */
  readonly storage: string
  /** Maximum wait for a confirmation before the storage counts as stalled. */
  readonly stalledMs: number
  /** Monotonic time in milliseconds. */
  readonly now?: () => number
}

/** The state of one storage. */
export class StorageState {
  #causes: Causes = {}
  readonly #settings: Settings
  readonly #now: () => number
  /** The time of the last event of each failure, by its {@link keyOf}. */
  readonly #loggedAt = new Map<string, number>()
  #pendingWrites = 0
  #pendingSince = 0
  #confirmedAt = Number.NEGATIVE_INFINITY
  #stallTimer: Timer | undefined

  constructor(settings: Settings) {
    this.#settings = settings
    this.#now = settings.now ?? (() => performance.now())
  }

  get state(): State {
    return stateOf(this.#causes)
  }

  get isDamaged(): boolean {
    return this.#causes.damaged !== undefined
  }

  /** The attempt to make now; null if there is none. */
  get attempt(): Attempt | null {
    return attemptOf(this.#causes)
  }

  report(event: StorageEvent): void {
    const before = this.#causes
    this.#causes = transition(before, event, this.#now())
    for (const cause of CAUSES) {
      const [was, is] = [before[cause], this.#causes[cause]]
      if (is && is !== was) this.#logBegin(cause, is, was === undefined)
      else if (was && !is) this.#logEnd(cause, was)
    }
  }

  /** The reason to refuse an act untried; null if it may be tried. */
  refusal(act: Act): RequestError | null {
    return this.#errorOf(refusalOf(this.#causes, act))
  }

  /** The reason that the storage cannot be written, or soon will not be; null if there is none. */
  problem(): RequestError | null {
    const cause = worstOf(this.#causes)
    return cause === 'damaged' ? null : this.#errorOf(cause)
  }

  /** Counts a pending write, and watches it for a stall. */
  beginWrite(): void {
    if (this.#pendingWrites === 0) this.#pendingSince = this.#now()
    this.#pendingWrites += 1
    this.#stallTimer ??= this.#checkStallAfter(this.#settings.stalledMs)
  }

  /** Ends a pending write, successful or not. */
  endWrite(): void {
    this.#pendingWrites -= 1
    this.#pendingSince = this.#now()
    if (this.#causes.stalled) this.report('answered')
  }

  get hasPendingWrites(): boolean {
    return this.#pendingWrites > 0
  }

  /** Records the time of a confirmed write. */
  confirmWrite(): void {
    this.#confirmedAt = this.#now()
  }

  /** Milliseconds since the last confirmed write. */
  sinceConfirmed(): number {
    return this.#now() - this.#confirmedAt
  }

  close(): void {
    clearTimeout(this.#stallTimer)
  }

  // One timer for many writes: it is set again if the oldest has not waited long enough.
  #checkStallAfter(milliseconds: number): Timer {
    const timer = setTimeout(() => {
      this.#stallTimer = undefined
      if (this.#pendingWrites === 0 || this.#causes.stalled) return
      const waitMs = this.#now() - this.#pendingSince
      const remainingMs = this.#settings.stalledMs - waitMs
      if (remainingMs > 0) this.#stallTimer = this.#checkStallAfter(remainingMs)
      else this.#stall(waitMs)
    }, milliseconds)
    timer.unref()
    return timer
  }

  #stall(waitMs: number): void {
    const failure: StorageFailure = { kind: 'failed', detail: this.#stallMessage() }
    this.report({ source: 'stall', failure, since: this.#now() - waitMs })
  }

  #stallMessage(): string {
    const seconds = Math.floor((this.#now() - this.#pendingSince) / 1000)
    return `${this.#settings.storage} has confirmed no write for ${seconds} s`
  }

  #errorOf(cause: Cause | null): RequestError | null {
    if (cause === 'stalled') return new RequestError('cannot write', this.#stallMessage())
    const active = cause && this.#causes[cause]
    return active ? this.#settings.toError(active.failure, this.#secondsSince(active)) : null
  }

  #secondsSince({ since }: ActiveCause): number {
    return Math.floor((this.#now() - since) / 1000)
  }

  #logBegin(cause: Cause, { failure }: ActiveCause, isNew: boolean): void {
    const { log, events = FILE_EVENTS } = this.#settings
    const isRepeated = REPEATED.includes(cause)
    const isDue = isRepeated
      ? this.#now() >= this.#lastLogged(cause, failure) + LOGGED_EVERY_MS
      : isNew
    const logEvents = events[cause]
    if (!isDue || !logEvents) return
    const [level, event] = logEvents
    const { detail, sqlstate } = failure
    this.#loggedAt.set(keyOf(cause, failure), this.#now())
    log(level, event, sqlstate === undefined ? { detail } : { sqlstate, detail })
  }

  #logEnd(cause: Cause, active: ActiveCause): void {
    const { log, events = FILE_EVENTS } = this.#settings
    const logEvents = events[cause]
    if (!logEvents) return
    if (REPEATED.includes(cause) && this.#lastLogged(cause, active.failure) < active.since) return
    const [, , level, event] = logEvents
    log(level, event, { seconds: Math.round((this.#now() - active.since) / 1000) })
  }

  #lastLogged(cause: Cause, failure: StorageFailure): number {
    return this.#loggedAt.get(keyOf(cause, failure)) ?? Number.NEGATIVE_INFINITY
  }
}
