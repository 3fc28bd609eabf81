// How long a page of plants is, and where it begins, in every engine.

import { INT64_MAX, INT64_MIN, type Int64 } from './plant'
import type { Order, PlantQuery } from './plants'

/** A page ends with the plant that takes it beyond this length: 1000 of the longest plants would take gigabytes of memory. */
export const PAGE_LENGTH = 250_000

/** The most plants that a search by name walks for one page: a few milliseconds, in which nobody else is served. */
export const MAX_WALKED = 5000

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
