// The reads of the change log, in every engine: its pages, its state, and what its retention needs.

import type {
  ChangeLogPage,
  ChangeLogStats,
  HistoryPage,
  ReadOptions,
} from '../change-log/change-log'
import {
  type ChangeLogRow,
  type EntryRow,
  endOf,
  MAX_ENTRIES,
  numberAfter,
  numberBefore,
  pageAfter,
  placeOf,
  toChangeLogEntry,
  toChangeLogState,
} from '../change-log/entry'
import type { EntryRange } from '../change-log/retention'
import type { Int64 } from '../plant/plant'
import { RequestError } from '../request-errors'

/** The rows of a page; `isFull`: there are more. */
type EntryRows = { readonly rows: readonly EntryRow[]; readonly isFull: boolean }

/** The size of a change log in bytes, and the time of its oldest entry in milliseconds since 1970. */
export type LogSize = { readonly at: bigint | null; readonly bytes: bigint }

type Awaitable<T> = T | Promise<T>

/** The queries of an engine. A page has at most `limit` entries, fewer if they are long. */
export type ChangeLogQueries = {
  /** The row of the change log, with the mark of an entry. */
  row(entry: number | null): Awaitable<ChangeLogRow | null | undefined>
  /** The entries of a change log after a number, oldest first. */
  after(number: number, limit: number, changeLog: string): Awaitable<readonly EntryRow[]>
  /** The entries before a number, newest first; of one plant, or of all (null). */
  before(number: number, limit: number, plant: Int64 | null): Awaitable<EntryRows>
  size(): Awaitable<LogSize | null | undefined>
}

/** Returns the reads of a `ChangeLog`, and the range of its entries: see `RetainedLog`. */
export function createChangeLogReader(queries: ChangeLogQueries) {
  async function range(): Promise<EntryRange | null> {
    const row = await queries.row(null)
    if (!row || row.log === null) return null
    const { start, last } = toChangeLogState(row)
    return { keepMs: Number(row.keep_ms), first: start.number + 1, last: last.number }
  }

  return {
    range,
    async read({ after, limit }: ReadOptions): Promise<ChangeLogPage> {
      const state = toChangeLogState(await queries.row(numberAfter(after)))
      const place = placeOf(after, state)
      const maxEntries = Math.min(limit, MAX_ENTRIES)
      const rows = maxEntries > 0 ? await queries.after(place.number, maxEntries, state.name) : []
      return pageAfter(place, rows, state, after)
    },
    async history(id: Int64 | null, { after, limit }: ReadOptions): Promise<HistoryPage> {
      const state = toChangeLogState(await queries.row(numberBefore(after)))
      const end = endOf(after, state)
      const { rows, isFull } = await queries.before(end, Math.min(limit, MAX_ENTRIES), id)
      const entries = rows.map((row) => toChangeLogEntry(state.name, row))
      const last = entries.at(-1)
      return isFull && last ? { entries, next: last.cursor } : { entries }
    },
    async stats(): Promise<ChangeLogStats> {
      const kept = await range()
      if (!kept) throw new RequestError('no change log')
      const size = await queries.size()
      return {
        entries: kept.last + 1 - kept.first,
        keepMs: kept.keepMs,
        oldestAt: size?.at == null ? null : Number(size.at),
        bytes: Number(size?.bytes),
      }
    },
  }
}
