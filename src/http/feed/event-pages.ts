// Pages of the change log as server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html).

import type { ChangeLog, ChangeLogEntry } from '../../change-log/change-log'
import { MAX_ENTRIES } from '../../change-log/entry'
import { toJson } from '../../plant/json'

/** The media type of a stream of events. */
export const EVENTS = 'text/event-stream'

const KEPT_PAGES = 8
const UTF8 = new TextEncoder()

/** A comment, which clients ignore: it keeps the connection alive. */
export const KEEP_ALIVE = UTF8.encode(':\n\n')

/** Changes as events, null if there are none, and the cursor of the last one. */
export type EventPage = { readonly events: Uint8Array | null; readonly next: string }

const toEvent = (entry: ChangeLogEntry): string =>
  `id: ${entry.cursor}\nevent: ${entry.action}\ndata: ${JSON.stringify(toJson(entry))}\n\n`

/** Reads the events after a cursor. Rejects like `ChangeLog.read`. */
export async function readEvents(
  changeLog: Pick<ChangeLog, 'read'>,
  after: string | undefined,
  signal?: AbortSignal,
): Promise<EventPage> {
  const options = { limit: MAX_ENTRIES, after, ...(signal ? { signal } : {}) }
  const { entries, next } = await changeLog.read(options)
  return { events: entries.length > 0 ? UTF8.encode(entries.map(toEvent).join('')) : null, next }
}

/** The first event of a stream. The delay in milliseconds is the client's wait before it reconnects. */
export function firstEvent(retry: number, { events, next }: EventPage): Uint8Array {
  // Without data, it only sets the cursor, for a client that loses the connection before the first change.
  return UTF8.encode(`retry: ${retry}\n${events ? '' : `id: ${next}\n`}\n`)
}

/** The latest pages, by their starting cursor: each is read and encoded once for all followers. */
export class EventPages {
  #pages = new Map<string, Promise<EventPage>>()
  #growth = 0

  /** Number of times that the change log has grown: a follower at its end waits for the next number. */
  get growth(): number {
    return this.#growth
  }

  /** The page after a cursor. Rejects like `ChangeLog.read`; the next call reads again. */
  pageAfter(changeLog: Pick<ChangeLog, 'read'>, cursor: string): Promise<EventPage> {
    const pages = this.#pages
    const page = pages.getOrInsertComputed(cursor, () => {
      const reading = readEvents(changeLog, cursor)
      reading.catch(() => pages.delete(cursor))
      return reading
    })
    if (pages.size > KEPT_PAGES) pages.delete(pages.keys().next().value ?? '')
    return page
  }

  /** Forgets all pages, because the change log may have grown. */
  clear(): void {
    this.#pages = new Map()
    this.#growth += 1
  }
}
