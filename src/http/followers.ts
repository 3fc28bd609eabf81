// The clients that follow the change log, each by a stream of server-sent events
// (https://html.spec.whatwg.org/multipage/server-sent-events.html). Each has a loop: send the next page, or wait for one.

import { ApiError } from '../errors'
import { toJson } from '../plant/json'
import type { Journal, JournalEntry, Store } from '../store'
import { isValid, type Token } from '../token'
import { jsonHeaders } from './answer'
import { type AnswerBudget, UNREAD_SECONDS } from './answer-budget'
import { findToken, type TokenDeps } from './auth'

// An idle one takes about 5 KB (bench: changes).
const MOST_FOLLOWERS = 10_000
const TOO_MANY = 'busy: too many clients follow the change log; retry shortly'
const CHANGES_PER_PAGE = 1000
const KEPT_PAGES = 8
// Less than UNREAD_SECONDS: a connection on which nothing happens for so long is closed.
const KEEP_ALIVE_MS = 10_000
const CHECK_MS = 500
// New changes wake the followers together, and less often the more there are: sending to one takes about 8 us.
const WAKE_MS = 5
const WAKE_MS_PER_FOLLOWER = 0.01
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
  /** Of its token. */
  readonly hash: string
  cursor: string
  /** When it was last sent something. */
  sentAt: number
  isEnded: boolean
  /** Ends its wait, if it waits. */
  wake: () => void
}

const toEvent = (entry: JournalEntry): string =>
  `id: ${entry.cursor}\nevent: ${entry.action}\ndata: ${JSON.stringify(toJson(entry))}\n\n`

async function readPage(journal: Journal, after: string | undefined): Promise<EventPage> {
  const { entries, next } = await journal.read({ limit: CHANGES_PER_PAGE, after })
  return { events: entries.length > 0 ? UTF8.encode(entries.map(toEvent).join('')) : null, next }
}

export type FollowerDeps = TokenDeps & {
  readonly store: Pick<Store, 'journal'>
  readonly now: () => number
  readonly answerBudget: AnswerBudget
  readonly timeOut: (request: Request, seconds: number) => void
  /** Ends every stream. */
  readonly stopping: AbortSignal
  readonly most?: number
  readonly keepAliveMs?: number
}

export type Followers = {
  count(): number
  /** Streams what happens after a cursor, like `Journal.read`; refuses it like that, or with 50301. */
  follow(
    journal: Journal,
    after: string | undefined,
    request: Request,
    token: Token,
  ): Promise<Response>
}

export function createFollowers(deps: FollowerDeps): Followers {
  const { store, now, answerBudget, timeOut, stopping } = deps
  const { most = MOST_FOLLOWERS, keepAliveMs = KEEP_ALIVE_MS } = deps
  const followers = new Set<Follower>()
  // By the cursor that they begin after. Each is read and written as text once for all, until the journal grows.
  let pages = new Map<string, Promise<EventPage>>()
  let wokenAt = 0
  let isWaking = false
  let isChecking = false
  let endWatch: (() => void) | undefined

  function pageAfter(journal: Journal, after: string): Promise<EventPage> {
    const own = pages
    const page = own.getOrInsertComputed(after, () => {
      const reading = readPage(journal, after)
      reading.catch(() => own.delete(after))
      return reading
    })
    if (own.size > KEPT_PAGES) own.delete(own.keys().next().value ?? '')
    return page
  }

  function wakeAll(): void {
    isWaking = false
    wokenAt = performance.now()
    pages = new Map()
    for (const { wake } of followers) wake()
  }

  function onGrowth(): void {
    if (isWaking) return
    isWaking = true
    const at = wokenAt + WAKE_MS + followers.size * WAKE_MS_PER_FOLLOWER
    setTimeout(wakeAll, Math.max(0, at - performance.now()))
  }

  function end(follower: Follower): void {
    follower.isEnded = true
    follower.wake()
  }

  stopping.addEventListener('abort', () => followers.forEach(end))

  async function isRefused(hash: string): Promise<boolean> {
    try {
      const token = await findToken(deps, hash)
      return !token || !isValid(token, now())
    } catch {
      // The store fails: streams do not end for that.
      return false
    }
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

  const isQuiet = ({ sentAt }: Follower) => performance.now() - sentAt >= keepAliveMs

  function watch(journal: Journal): () => void {
    const unwatch = journal.watch(onGrowth)
    const check = setInterval(() => {
      for (const follower of followers) if (isQuiet(follower)) follower.wake()
      endRefused()
    }, CHECK_MS)
    return () => {
      clearInterval(check)
      unwatch()
    }
  }

  function add(journal: Journal, hash: string): Follower {
    const sentAt = performance.now()
    const follower = { hash, cursor: '', sentAt, isEnded: stopping.aborted, wake: () => {} }
    followers.add(follower)
    endWatch ??= watch(journal)
    return follower
  }

  function remove(follower: Follower): void {
    followers.delete(follower)
    if (followers.size > 0) return
    endWatch?.()
    endWatch = undefined
    pages = new Map()
  }

  // Resolves when the kernel has all of it, or the client has gone.
  async function send(
    follower: Follower,
    controller: ReadableStreamDirectController,
    bytes: Uint8Array,
  ): Promise<void> {
    const holding = answerBudget.hold(bytes.byteLength)
    if (!holding) return end(follower)
    follower.sentAt = performance.now()
    controller.write(bytes)
    await controller.flush(true)
    holding.release()
  }

  async function run(follower: Follower, controller: ReadableStreamDirectController) {
    while (!follower.isEnded) {
      const own = pages
      const { journal } = store
      if (!journal) return
      const { events, next } = await pageAfter(journal, follower.cursor)
      follower.cursor = next
      if (follower.isEnded) return
      if (events) await send(follower, controller, events)
      else if (isQuiet(follower)) await send(follower, controller, KEEP_ALIVE)
      else if (own === pages) {
        await new Promise<void>((resolve) => {
          follower.wake = resolve
        })
      }
    }
  }

  function streamTo(follower: Follower, { events, next }: EventPage, request: Request) {
    follower.cursor = next
    // An event without data only sets the cursor, for a client that loses the connection before the first change.
    const start = `retry: ${Math.round(RETRY_MS * (1 + Math.random()))}\n${events ? '' : `id: ${next}\n`}\n`
    return new ReadableStream({
      type: 'direct',
      async pull(controller) {
        timeOut(request, UNREAD_SECONDS)
        try {
          await send(follower, controller, UTF8.encode(start))
          if (events) await send(follower, controller, events)
          await run(follower, controller)
        } catch (error) {
          // Its place was removed, or the store fails: the client learns which, when it comes back.
          if (!(error instanceof ApiError)) throw error
        } finally {
          remove(follower)
        }
        await controller.end()
      },
      cancel() {
        end(follower)
        remove(follower)
      },
    })
  }

  return {
    count: () => followers.size,
    async follow(journal, after, request, { hash }) {
      if (followers.size >= most) throw new ApiError(50301, TOO_MANY)
      // Before any `await`, so that the limit binds.
      const follower = add(journal, hash)
      let body: ReadableStream | null = null
      try {
        const page = await readPage(journal, after)
        const isGone = request.signal.aborted || follower.isEnded
        if (request.method !== 'HEAD' && !isGone) body = streamTo(follower, page, request)
      } finally {
        if (!body) remove(follower)
      }
      return new Response(body, { headers: streamHeaders })
    },
  }
}
