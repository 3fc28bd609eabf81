// The limits of pages of plants, in every engine: their length, the queue of reads, and the first id.

import { INT64_MAX, INT64_MIN, type Int64 } from './plant'
import type { Order, PlantQuery } from './plants'

/** A page ends with the plant that exceeds this length: 1000 of the longest plants would fill gigabytes of memory. */
export const PAGE_LENGTH = 250_000

const MAX_WALKED = 5000
// Plants with one tag are scattered over the table: each takes several times as long to read.
const MAX_WALKED_OF_TAG = 1000

/** Maximum number of plants read for one page: they block the event loop for a few milliseconds. */
export function maxWalked({ limit, name, tag }: PlantQuery): number {
  if (name === null) return limit
  return tag === null ? MAX_WALKED : MAX_WALKED_OF_TAG
}

/** Maximum number of queued lists and searches: some seconds of reading. */
export const MAX_WAITING_READS = 1000
export const TOO_MANY_READS = 'busy: too many lists and searches are waiting; retry shortly'

/** The first possible id of a page; null if there is none. */
export function firstId({ after, order }: PlantQuery): Int64 | null {
  if (order === 'desc') {
    if (after === null) return INT64_MAX
    return after === INT64_MIN ? null : after - 1n
  }
  if (after === null) return INT64_MIN
  return after === INT64_MAX ? null : after + 1n
}

/** The SQL of a page's order: the comparison with the first id, and the sort order. */
export const SQL_ORDERS = {
  asc: { from: '>=', by: 'id' },
  desc: { from: '<=', by: 'id DESC' },
} as const satisfies Record<Order, object>
