// The clients that follow the log of changes, each by a stream of server-sent events
// (https://html.spec.whatwg.org/multipage/server-sent-events.html).

import { ApiError } from '../errors'
import { toJson } from '../plant/json'
import type { Change, ChangeLog, Store } from '../store'
import { isValid, type Token } from '../token'
import { jsonHeaders } from './answer'
import { type AnswerBudget, UNREAD_SECONDS } from './answer-budget'
import { findToken, type TokenDeps } from './auth'

// An idle one takes about 5 KB (bench: changes).
const MOST_FOLLOWERS = 10_000
const TOO_MANY = 'busy: too many clients follow the log; retry shortly'
const CHANGES_PER_PAGE = 1000
const KEPT_PAGES = 8
const KEEP_ALIVE_MS = 10_000
const CHECK_MS = 500
// Changes are sent in rounds, rarer the more clients there are: a stream costs about 8 us a round.
const ROUND_MS = 5
const ROUND_MS_PER_FOLLOWER = 0.01
// After a restart, clients come back over this time.
const RETRY_MS = 1000

/** The media type of a stream of events. */
export const EVENTS = 'text/event-stream'

const streamHeaders = new Headers({
  ...Object.fromEntries(jsonHeaders),
  'content-type': EVENTS,
  // nginx would collect events before it passes them on.
  'x-accel-buffering': 'no',
})

const UTF8 = new TextEncoder()
const KEEP_ALIVE = UTF8.encode(':\n\n')

/** Changes as events, and the cursor of the last one. */
type EventPage = { readonly events: Uint8Array | null; readonly next: string }

type Follower = {
  readonly request: Request
  /** Of its token. */
  readonly hash: string
  cursor: string
  /** When it was last sent something. */
  sentAt: number
  isEnded: boolean
  /** Ends its wait; null: it does not wait. */
  resume: (() => void) | null
}

const toEvent = (change: Change): string =>
  `id: ${change.cursor}\nevent: ${change.action}\ndata: ${JSON.stringify(toJson(change))}\n\n`

async function readPage(log: ChangeLog, after: string | undefined): Promise<EventPage> {
  const { changes, next } = await log.read({ limit: CHANGES_PER_PAGE, after })
  return { events: changes.length > 0 ? UTF8.encode(changes.map(toEvent).join('')) : null, next }
}

export type FollowerDeps = TokenDeps & {
  readonly store: Pick<Store, 'changes'>
  readonly now: () => number
  readonly answerBudget: AnswerBudget
  readonly timeOut: (request: Request, seconds: number) => void
  /** Ends every stream. */
  readonly stopping: AbortSignal
  readonly most?: number
  readonly keepAliveMs?: number
}

export type Followers = ReturnType<typeof createFollowers>

export function createFollowers(deps: FollowerDeps) {
  const { store, now, answerBudget, timeOut, stopping } = deps
  const { most = MOST_FOLLOWERS, keepAliveMs = KEEP_ALIVE_MS } = deps
  const followers = new Set<Follower>()
  // Pages by the cursor they begin after: each is read and written as text once in a round, for all who wait for it.
  let round = new Map<string, Promise<EventPage>>()
  let roundAt = 0
  let isPlanned = false
  let isChecking = false
  let check: ReturnType<typeof setInterval> | undefined
  let unwatch: (() => void) | undefined

  function pageAfter(log: ChangeLog, after: string): Promise<EventPage> {
    const page = round.getOrInsertComputed(after, () => readPage(log, after))
    if (round.size > KEPT_PAGES) round.delete(round.keys().next().value ?? '')
    return page
  }

  function beginRound(): void {
    isPlanned = false
    roundAt = performance.now()
    round = new Map()
    for (const { resume } of followers) resume?.()
  }

  function planRound(): void {
    if (isPlanned) return
    isPlanned = true
    const at = roundAt + ROUND_MS + followers.size * ROUND_MS_PER_FOLLOWER
    setTimeout(beginRound, Math.max(0, at - performance.now()))
  }

  function end(follower: Follower): void {
    follower.isEnded = true
    follower.resume?.()
  }

  const endAll = () => followers.forEach(end)
  stopping.addEventListener('abort', endAll)

  async function isRefused(hash: string): Promise<boolean> {
    try {
      const token = await findToken(deps, hash)
      return !token || !isValid(token, now())
    } catch {
      // The store fails: streams do not end for that.
      return false
    }
  }

  function wakeIdle(): void {
    const idleSince = performance.now() - keepAliveMs
    for (const { sentAt, resume } of followers) if (sentAt < idleSince) resume?.()
  }

  // A store that does not answer may hold this up for long.
  async function endRefused(): Promise<void> {
    if (isChecking) return
    isChecking = true
    for (const [hash, all] of Map.groupBy(followers, (it) => it.hash)) {
      if (await isRefused(hash)) all.forEach(end)
    }
    isChecking = false
  }

  function add(log: ChangeLog, follower: Follower): void {
    followers.add(follower)
    check ??= setInterval(() => {
      wakeIdle()
      endRefused()
    }, CHECK_MS)
    unwatch ??= log.watch(planRound)
  }

  function remove(follower: Follower): void {
    followers.delete(follower)
    if (followers.size > 0) return
    clearInterval(check)
    unwatch?.()
    check = undefined
    unwatch = undefined
    round = new Map()
  }

  // Resolves when the kernel has all of it, or the client has gone. A client that takes nothing is disconnected.
  async function sendTo(
    follower: Follower,
    controller: ReadableStreamDirectController,
    bytes: Uint8Array,
  ): Promise<void> {
    const holding = answerBudget.hold(bytes.byteLength)
    if (!holding) return end(follower)
    follower.sentAt = performance.now()
    controller.write(bytes)
    const flushed = controller.flush(true)
    if (flushed instanceof Promise && Bun.peek.status(flushed) === 'pending') {
      timeOut(follower.request, UNREAD_SECONDS)
      await flushed
      timeOut(follower.request, 0)
    }
    holding.release()
  }

  async function run(follower: Follower, controller: ReadableStreamDirectController) {
    while (!follower.isEnded) {
      const own = round
      const log = store.changes
      if (!log) return
      const { events, next } = await pageAfter(log, follower.cursor)
      follower.cursor = next
      if (follower.isEnded) return
      if (events) await sendTo(follower, controller, events)
      else if (own === round) {
        const { promise, resolve } = Promise.withResolvers<void>()
        follower.resume = resolve
        await promise
        follower.resume = null
        const isQuiet = performance.now() - follower.sentAt >= keepAliveMs
        if (isQuiet && !follower.isEnded) await sendTo(follower, controller, KEEP_ALIVE)
      }
    }
  }

  function streamFrom(log: ChangeLog, { events, next }: EventPage, request: Request, hash: string) {
    const follower: Follower = {
      request,
      hash,
      cursor: next,
      sentAt: performance.now(),
      isEnded: false,
      resume: null,
    }
    // An event without data only sets the cursor, for a client that loses the connection before the first change.
    const start = `retry: ${Math.round(RETRY_MS * (1 + Math.random()))}\n${events ? '' : `id: ${next}\n`}\n`
    return new ReadableStream({
      type: 'direct',
      async pull(controller) {
        add(log, follower)
        // Bun would close a connection on which nothing happens.
        timeOut(request, 0)
        try {
          await sendTo(follower, controller, UTF8.encode(start))
          if (events) await sendTo(follower, controller, events)
          await run(follower, controller)
        } catch (error) {
          // Its place was removed, or the store fails: the client learns which, when it comes back.
          if (!(error instanceof ApiError)) throw error
        } finally {
          remove(follower)
          // The connection is kept for another request, but not without an end.
          timeOut(request, UNREAD_SECONDS)
        }
        await controller.end()
      },
      cancel: () => end(follower),
    })
  }

  return {
    count: () => followers.size,
    /** Streams what happens after a cursor, like `ChangeLog.read`; refuses it like that, or with 50301. */
    async follow(
      log: ChangeLog,
      after: string | undefined,
      request: Request,
      { hash }: Token,
    ): Promise<Response> {
      if (followers.size >= most) throw new ApiError(50301, TOO_MANY)
      const page = await readPage(log, after)
      const isGone = request.signal.aborted || stopping.aborted
      const body = request.method === 'HEAD' || isGone ? null : streamFrom(log, page, request, hash)
      return new Response(body, { headers: streamHeaders })
    },
  }
}
