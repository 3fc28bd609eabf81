// The limits of reading pages of plants, in every engine: their length, and how many may wait; and where a page begins.

import { INT64_MAX, INT64_MIN, type Int64 } from './plant'
import type { Order, PlantQuery } from './plants'

/** A page ends with the plant that takes it beyond this length: 1000 of the longest plants would take gigabytes of memory. */
export const PAGE_LENGTH = 250_000

const MAX_WALKED = 5000
// Those of one tag are far apart in the table: each takes several times as long.
const MAX_WALKED_OF_TAG = 1000

/** The most plants that are walked for one page: a few milliseconds, in which the event loop is blocked. */
export function maxWalked({ limit, name, tag }: PlantQuery): number {
  if (name === null) return limit
  return tag === null ? MAX_WALKED : MAX_WALKED_OF_TAG
}

/** The most lists and searches that wait: some seconds of reading. */
export const MAX_WAITING_READS = 1000
export const TOO_MANY_READS = 'busy: too many lists and searches are waiting; retry shortly'

/** The first id that may be on a page; null: there is none. */
export function firstId({ after, order }: PlantQuery): Int64 | null {
  if (order === 'desc') {
    if (after === null) return INT64_MAX
    return after === INT64_MIN ? null : after - 1n
  }
  if (after === null) return INT64_MIN
  return after === INT64_MAX ? null : after + 1n
}

/** How a page is read in SQL: which ids, compared with the first, and in which order. */
export const SQL_ORDERS = {
  asc: { from: '>=', by: 'id' },
  desc: { from: '<=', by: 'id DESC' },
} as const satisfies Record<Order, object>
