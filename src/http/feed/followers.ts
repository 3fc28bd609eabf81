// The clients that follow the change log, each by a stream of server-sent events: limits their number, wakes them for
// new changes, and ends the streams of a revoked token.

import type { ChangeLog } from '../../change-log/change-log'
import { RequestError } from '../../errors'
import { isValid, type Token } from '../../token/token'
import { findToken, type TokenDeps } from '../access/auth'
import { JSON_HEADERS } from '../answers/answer'
import { EVENTS, EventPages, readEvents } from './event-pages'
import { Follower, type FollowerDeps } from './follower'

// An idle one needs about 5 KB (bench: changes).
const MAX_FOLLOWERS = 10_000
const TOO_MANY = 'busy: too many clients follow the change log; retry shortly'
// Less than UNREAD_SECONDS, the timeout of an idle connection.
const KEEP_ALIVE_MS = 10_000
const CHECK_MS = 500
// Followers are woken together, and less often the more there are: sending to one takes about 8 us.
const WAKE_MS = 5
const WAKE_MS_PER_FOLLOWER = 0.01

const STREAM_HEADERS = new Headers({
  ...Object.fromEntries(JSON_HEADERS),
  'content-type': EVENTS,
  // Otherwise nginx would buffer events.
  'x-accel-buffering': 'no',
})

export type FollowersDeps = TokenDeps &
  Omit<FollowerDeps, 'pages' | 'keepAliveMs'> & {
    /** Milliseconds since 1970, for the expiry of tokens. */
    readonly now: () => number
    /** Ends every stream. */
    readonly stopping: AbortSignal
    /** Maximum number of followers. */
    readonly maxFollowers?: number
    readonly keepAliveMs?: number
  }

export class Followers {
  readonly #deps: FollowersDeps
  readonly #pages = new EventPages()
  readonly #followers = new Set<Follower>()
  #wokenAt = 0
  #isWaking = false
  /** The cursor of the last entry, if it is known: a follower that has sent it need not be woken. */
  #end: string | undefined
  #isChecking = false
  #endWatch: (() => void) | undefined

  constructor(deps: FollowersDeps) {
    this.#deps = deps
    deps.stopping.addEventListener('abort', () => {
      for (const follower of this.#followers) follower.end()
    })
  }

  count(): number {
    return this.#followers.size
  }

  /** Streams the changes after a cursor. Rejects like `ChangeLog.read`, or with `busy`. */
  async follow(
    changeLog: ChangeLog,
    after: string | undefined,
    request: Request,
    { hash }: Token,
  ): Promise<Response> {
    if (this.count() >= (this.#deps.maxFollowers ?? MAX_FOLLOWERS))
      throw new RequestError('busy', TOO_MANY)
    // Before any `await`, so that the limit binds.
    const follower = this.#add(changeLog, hash)
    let body: ReadableStream | null = null
    try {
      const page = await readEvents(changeLog, after, request.signal)
      const isGone = request.signal.aborted || follower.isEnded
      if (request.method !== 'HEAD' && !isGone) {
        body = follower.stream(request, page, () => this.#remove(follower))
      }
    } finally {
      if (!body) this.#remove(follower)
    }
    return new Response(body, { headers: STREAM_HEADERS })
  }

  #add(changeLog: ChangeLog, hash: string): Follower {
    const { keepAliveMs = KEEP_ALIVE_MS, stopping } = this.#deps
    const follower = new Follower(hash, { ...this.#deps, pages: this.#pages, keepAliveMs })
    if (stopping.aborted) follower.end()
    this.#followers.add(follower)
    this.#endWatch ??= this.#watch(changeLog)
    return follower
  }

  #remove(follower: Follower): void {
    this.#followers.delete(follower)
    if (this.#followers.size > 0) return
    this.#endWatch?.()
    this.#endWatch = undefined
    this.#pages.clear()
  }

  /** Serves the followers while there are any. Returns the function that stops it. */
  #watch(changeLog: ChangeLog): () => void {
    const unwatch = changeLog.watch((end) => this.#wakeSoon(end))
    const check = setInterval(() => {
      for (const follower of this.#followers) follower.wakeIfQuiet()
      this.#endRefused()
    }, CHECK_MS)
    return () => {
      clearInterval(check)
      unwatch()
    }
  }

  #wakeSoon(end: string | undefined): void {
    const isKnown = !this.#isWaking || this.#end !== undefined
    this.#end = isKnown ? end : undefined
    if (this.#isWaking) return
    this.#isWaking = true
    const wakeAt = this.#wokenAt + WAKE_MS + this.count() * WAKE_MS_PER_FOLLOWER
    setTimeout(() => this.#wakeAll(), Math.max(0, wakeAt - performance.now()))
  }

  #wakeAll(): void {
    this.#isWaking = false
    this.#wokenAt = performance.now()
    this.#pages.clear()
    for (const follower of this.#followers) {
      if (this.#end === undefined || follower.cursor !== this.#end) follower.wake()
    }
  }

  /** Ends the streams whose token is refused. A store that does not answer may delay this. */
  async #endRefused(): Promise<void> {
    if (this.#isChecking) return
    this.#isChecking = true
    for (const [hash, all] of Map.groupBy(this.#followers, ({ hash }) => hash)) {
      if (await this.#isRefused(hash)) for (const follower of all) follower.end()
    }
    this.#isChecking = false
  }

  async #isRefused(hash: string): Promise<boolean> {
    try {
      const token = await findToken(this.#deps, hash)
      return !token || !isValid(token, this.#deps.now())
    } catch {
      // A failing store ends no streams.
      return false
    }
  }
}
