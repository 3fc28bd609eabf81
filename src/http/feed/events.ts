// Pages of the change log as server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html).

import type { ChangeLog, ChangeLogEntry } from '../../change-log/change-log'
import { MAX_ENTRIES } from '../../change-log/entry'
import { toJson } from '../../plant/json'

/** The media type of a stream of events. */
export const EVENTS = 'text/event-stream'

// Spreads reconnects after a restart, over this time and as much again.
const RETRY_MS = 1000
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

/** The first event of a stream: when to reconnect, and the cursor, for a client that loses it before any change. */
export function firstEvent({ events, next }: EventPage): Uint8Array {
  const retry = Math.round(RETRY_MS * (1 + Math.random()))
  return UTF8.encode(`retry: ${retry}\n${events ? '' : `id: ${next}\n`}\n`)
}
