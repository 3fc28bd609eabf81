// How long a page of plants is, and where it begins, in every engine.

import { INT64_MAX, INT64_MIN, type Int64 } from '../plant/plant'

/** A page ends with the plant that takes it beyond this length: 1000 of the longest plants would take gigabytes of memory. */
export const PAGE_LENGTH = 250_000

/** The most plants that a search by name walks for one page: a few milliseconds, in which nobody else is served. */
export const MOST_WALKED = 5000

/** The least id that may be on the page after an id; null: there is none. */
export function firstId(after: Int64 | null): Int64 | null {
  if (after === null) return INT64_MIN
  return after === INT64_MAX ? null : after + 1n
}
