// Following changes: a loop that reconnects after any loss of connection, and an exact copy of the plants.

import { ERRORS } from './contract.ts'
import { parseJson, toChange } from './json.ts'
import { type CallOptions, ClientError, type Failure, type Result } from './result.ts'
import {
  type EventStream,
  openEvents,
  PAUSES,
  type Patience,
  rest,
  retry,
  type Sender,
  SILENT_MS,
} from './send.ts'
import type { Change, ChangePage, ChangesQuery, Plant, PlantPage } from './types.ts'

/**
 * The events of `follow`. `reset`: drop the copy. Otherwise the plant `id` is now `after`: `list`, as found; other
 * actions, as changed.
 */
export type Followed =
  | { readonly action: 'reset' }
  | { readonly action: 'list'; readonly id: bigint; readonly after: Plant }
  | Change

const isPassing = ({ status }: Failure): boolean => status === 0 || status === 429 || status >= 500

/** Waits for a daemon that is away, however long it takes. */
const patience = ({ signal }: CallOptions): Patience => ({
  tries: 0,
  pauses: PAUSES,
  isPassing,
  signal,
})

/** The start of following the change log, and its options. */
export type FollowQuery = CallOptions & Pick<ChangesQuery, 'after'>

type Event = { readonly id: string; readonly data: string }

/** The events of a stream, until it ends or breaks. */
async function* eventsOf({ body, end }: EventStream): AsyncGenerator<Event, void, void> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let silence: ReturnType<typeof setTimeout> | undefined
  let text = ''
  let id = ''
  let data = ''
  try {
    while (true) {
      silence = setTimeout(end, SILENT_MS)
      const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }))
      clearTimeout(silence)
      if (done) return
      const lines = (text + decoder.decode(value, { stream: true })).split('\n')
      text = lines.pop() ?? ''
      for (const line of lines) {
        if (line.startsWith('id: ')) id = line.slice(4)
        else if (line.startsWith('data: ')) data = line.slice(6)
        else if (line === '' && id) {
          yield { id, data }
          id = ''
          data = ''
        }
      }
    }
  } finally {
    clearTimeout(silence)
    end()
  }
}

/** The change of an event; undefined for an unknown event; null if it is not JSON. */
function readChange(data: string): Change | null | undefined {
  try {
    return toChange(parseJson(data))
  } catch {
    return null
  }
}

/** Yields every change after a cursor, without end. Throws a {@link ClientError} on failure; ends when aborted. */
export async function* changesAfter(
  sender: Sender,
  followQuery: FollowQuery,
): AsyncGenerator<Change, void, void> {
  const { after, ...options } = followQuery
  const waiting = patience(options)
  for (let cursor = after; !options.signal?.aborted; ) {
    const query = cursor === undefined ? '' : String(new URLSearchParams({ after: cursor }))
    const call = { method: 'GET', path: 'plants/changes', query, ...options } as const
    const stream = await retry(waiting, () => openEvents(sender, call))
    if (!stream) return
    const openedAt = performance.now()
    for await (const { id, data } of eventsOf(stream)) {
      const change = data ? readChange(data) : undefined
      // The change is requested again.
      if (change === null) break
      cursor = id
      if (!change) continue
      waiting.tries = 0
      yield change
    }
    if (performance.now() - openedAt > PAUSES.longest * 1000) waiting.tries = 0
    if (!options.signal?.aborted) await rest(waiting)
  }
}

/** The requests that a copy needs. */
type CopyRequests = {
  readonly end: () => Promise<Result<ChangePage>>
  readonly page: (after: string | undefined) => Promise<Result<PlantPage>>
  readonly changesAfter: (cursor: string) => AsyncGenerator<Change, void, void>
}

const isGone = (error: unknown): boolean =>
  error instanceof ClientError && error.failure.error === ERRORS['cursor expired']

/**
 * Yields the plants, then every change, without end: they make an exact copy. The list overlaps with the first changes;
 * the copy is exact once those are applied. If its cursor has expired, it starts again.
 */
export async function* copyOf(
  requests: CopyRequests,
  options: CallOptions,
): AsyncGenerator<Followed, void, void> {
  const waiting = patience(options)
  while (!options.signal?.aborted) {
    yield { action: 'reset' }
    const end = await retry(waiting, requests.end)
    if (!end) return
    let after: string | undefined
    let isLast = false
    while (!isLast) {
      const pageStart = after
      const page = await retry(waiting, () => requests.page(pageStart))
      if (!page) return
      waiting.tries = 0
      for (const { id, ...plant } of page.plants) yield { action: 'list', id, after: plant }
      isLast = page.next === null
      after = page.next ?? undefined
    }
    try {
      yield* requests.changesAfter(end.next)
    } catch (error) {
      if (!isGone(error)) throw error
    }
  }
}
