// The clients that follow the change log, each by a stream of server-sent events
// (https://html.spec.whatwg.org/multipage/server-sent-events.html).

import type { ChangeLog, ChangeLogEntry } from '../../change-log/change-log'
import { MAX_ENTRIES } from '../../change-log/entry'
import { toJson } from '../../plant/json'
import { RequestError } from '../../request-errors'
import { isValid, type Token } from '../../token/token'
import type { ByteBudget } from '../byte-budget'
import type { AppDeps } from '../deps'
import { JSON_FIELDS } from '../responses/forms'
import { UNREAD_SECONDS } from '../responses/respond'
import { findToken } from '../tokens/auth'

/** The media type of a stream of events. */
export const EVENTS = 'text/event-stream'

const MAX_FOLLOWERS = 10_000
const TOO_MANY = 'busy: too many clients follow the change log; retry shortly'
// Less than UNREAD_SECONDS, the timeout of an idle connection.
const KEEP_ALIVE_MS = 10_000
const TICK_MS = 1000
// Followers are woken together, and less often the more there are: sending to one takes about 8 us.
const WAKE_MS = 5
const WAKE_MS_PER_FOLLOWER = 0.01

// Spreads reconnects after a restart, over this time and as much again.
const RETRY_MS = 1000
// A comment, which clients ignore.
const KEEP_ALIVE = ':\n\n'

const toEvent = (entry: ChangeLogEntry): string =>
  `id: ${entry.cursor}\nevent: ${entry.action}\ndata: ${JSON.stringify(toJson(entry))}\n\n`

const STREAM_HEADERS = new Headers({
  ...JSON_FIELDS,
  'content-type': EVENTS,
  // Otherwise nginx would buffer events.
  'x-accel-buffering': 'no',
})

export type FollowersDeps = AppDeps & { readonly budget: ByteBudget }

/** Shares the result of a call in progress among all that ask for the same. */
function share<T>(call: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const calls = new Map<string, Promise<T>>()
  return (key) =>
    calls.getOrInsertComputed(key, () => call(key).finally(() => void calls.delete(key)))
}

/** The followers of one app. They read the change log together, and their tokens are checked before each event. */
export class Followers {
  readonly #deps: FollowersDeps
  /** The requests of those that follow. */
  readonly #followers = new Set<Request>()
  /** The events after a cursor, and the cursor of the last one; null if the change log has ended. */
  readonly #readAfter = share(async (after) => {
    const { changeLog } = this.#deps.store
    const page = await changeLog?.read({ limit: MAX_ENTRIES, after })
    return page && { events: Buffer.from(page.entries.map(toEvent).join('')), next: page.next }
  })
  readonly #isAllowed = share((hash) => {
    const { now } = this.#deps
    const isAllowed = findToken(this.#deps, hash).then(
      (token) => token !== null && isValid(token, now()),
      // A store that fails, or does not answer in time, ends no streams.
      () => true,
    )
    return Promise.race([isAllowed, Bun.sleep(TICK_MS).then(() => true)])
  })
  /** Resolves when there may be something to send. */
  #wake = Promise.withResolvers<void>()
  #isWaking = false
  #unwatch: (() => void) | undefined

  constructor(deps: FollowersDeps) {
    this.#deps = deps
    deps.stopping.addEventListener('abort', () => this.#wakeAll())
  }

  count(): number {
    return this.#followers.size
  }

  /** Streams the changes after a cursor. Rejects like `ChangeLog.read`, or with `busy`. */
  async follow(
    changeLog: ChangeLog,
    after: string | undefined,
    request: Request,
    token: Token,
  ): Promise<Response> {
    const { stopping } = this.#deps
    if (this.count() >= MAX_FOLLOWERS) throw new RequestError('busy', TOO_MANY)
    // Before any `await`, so that the limit binds.
    this.#followers.add(request)
    this.#unwatch ??= this.#watch(changeLog)
    let body: ReadableStream | null = null
    try {
      const { next } = await changeLog.read({ after, limit: 0, signal: request.signal })
      const isGone = request.signal.aborted || stopping.aborted
      if (request.method !== 'HEAD' && !isGone) body = this.#stream(request, token.hash, next)
    } finally {
      if (!body) this.#remove(request)
    }
    return new Response(body, { headers: STREAM_HEADERS })
  }

  #stream(request: Request, hash: string, after: string): ReadableStream {
    const { budget, timeOut } = this.#deps
    return new ReadableStream({
      type: 'direct',
      pull: async (controller: ReadableStreamDirectController) => {
        timeOut(request, UNREAD_SECONDS)
        try {
          for await (const events of this.#eventsOf(request, hash, after)) {
            using _ = budget.reserve(events.length)
            controller.write(events)
            // Resolves when the kernel has all of it, or the client has disconnected.
            await controller.flush(true)
          }
        } catch (error) {
          // Its cursor has expired, or the store fails or is busy: the client gets the error when it reconnects.
          if (!(error instanceof RequestError)) throw error
        } finally {
          this.#remove(request)
        }
        await controller.end()
      },
      cancel: () => this.#remove(request),
    })
  }

  /** Everything that a follower is sent. Its token is checked each time; ends once it is refused. */
  async *#eventsOf(request: Request, hash: string, after: string) {
    const { stopping } = this.#deps
    const retry = Math.round(RETRY_MS * (1 + Math.random()))
    yield `retry: ${retry}\nid: ${after}\n\n`
    let cursor = after
    let sentAt = performance.now()
    while (this.#followers.has(request) && !stopping.aborted) {
      // Before the read, as a change may come meanwhile.
      const woken = this.#wake.promise
      const page = await this.#readAfter(cursor)
      if (!page || !(await this.#isAllowed(hash))) return
      const isQuiet = page.events.length === 0
      if (isQuiet && performance.now() - sentAt < KEEP_ALIVE_MS) {
        await woken
        continue
      }
      yield isQuiet ? KEEP_ALIVE : page.events
      cursor = page.next
      sentAt = performance.now()
    }
  }

  #remove(request: Request): void {
    this.#followers.delete(request)
    if (this.#followers.size > 0) return
    this.#unwatch?.()
    this.#unwatch = undefined
  }

  /** Wakes the followers while there are any. Returns the function that stops it. */
  #watch(changeLog: ChangeLog): () => void {
    const unwatch = changeLog.watch(() => this.#wakeSoon())
    const ticks = setInterval(() => this.#wakeAll(), TICK_MS)
    return () => {
      clearInterval(ticks)
      unwatch()
    }
  }

  #wakeSoon(): void {
    if (this.#isWaking) return
    this.#isWaking = true
    setTimeout(() => this.#wakeAll(), WAKE_MS + this.count() * WAKE_MS_PER_FOLLOWER)
  }

  #wakeAll(): void {
    this.#isWaking = false
    this.#wake.resolve()
    this.#wake = Promise.withResolvers()
  }
}
