// The pages of plants, in every engine: their filter in SQL, their length, the queue of reads, and the first id.

import { INT64_MAX, INT64_MIN, type Int64 } from '../plant/plant'
import type { Order, PlantFilter, PlantQuery } from '../plant/plants'

/** A page ends with the plant that exceeds this length: 1000 of the longest plants would fill gigabytes of memory. */
export const PAGE_LENGTH = 250_000

const MAX_SCANNED = 5000
// Plants with one tag are scattered over the table: each takes several times as long to read.
const MAX_SCANNED_OF_TAG = 1000

/** Maximum number of queued lists and searches: some seconds of reading. */
export const MAX_WAITING_READS = 1000
export const TOO_MANY_READS = 'busy: too many lists and searches are waiting; retry shortly'

/** The first rows of a page: at most `limit`, fewer if they are long. `following`: the next row, if there is one. */
export function takeRows<Row>(all: Iterable<Row>, limit: number, lengthOf: (row: Row) => number) {
  const rows: Row[] = []
  let length = 0
  for (const row of all) {
    if (rows.length === limit || length > PAGE_LENGTH) return { rows, following: row }
    rows.push(row)
    length += lengthOf(row)
  }
  return { rows }
}

/** The first possible id of a page; null if there is none. */
export function firstId({ after = null, order }: PlantQuery): Int64 | null {
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

/** The SQL of an engine for the conditions of a filter. `value`: a placeholder. */
export type FilterDialect = {
  readonly placeholder: (place: number) => string
  /** Plants with a tag, by its index. */
  readonly tagEquals: (value: string) => string
  /** Plants whose name has a part, in any case of A to Z. */
  readonly nameContains: (value: string) => string
}

/** A filter in SQL. */
export type CompiledFilter = {
  /** The conditions that an index answers, each after AND; may be empty. */
  readonly range: string
  /** The condition that each plant of the range is tried by; null if all match. */
  readonly hit: string | null
  /** The values of the placeholders, in their order. */
  readonly values: readonly string[]
  /** Maximum number of plants read for one page: they block the event loop for a few milliseconds. */
  readonly maxScanned: number
}

/** Compiles a query's filter. `places`: the number of placeholders before it. */
export function compileFilter(
  filter: PlantFilter & Pick<PlantQuery, 'limit'>,
  { placeholder, tagEquals, nameContains }: FilterDialect,
  places: number,
): CompiledFilter {
  const { limit, tag, names = [] } = filter
  const values = [...(tag === undefined ? [] : [tag]), ...names]
  const placeholders = values.map((_, index) => placeholder(places + index + 1))
  const range = tag === undefined ? '' : ` AND ${tagEquals(placeholders[0] ?? '')}`
  const hits = placeholders.slice(tag === undefined ? 0 : 1).map(nameContains)
  if (filter.tagged !== undefined) hits.push(filter.tagged ? 'tag IS NOT NULL' : 'tag IS NULL')
  if (hits.length === 0) return { range, hit: null, values, maxScanned: limit }
  const maxScanned = tag === undefined ? MAX_SCANNED : MAX_SCANNED_OF_TAG
  return { range, hit: hits.join(' AND '), values, maxScanned }
}

// In a URL, up to 9 kB of the 16 that a request may have.
const MAX_PLACE = 1000
// Places after the empty tag: the first needs no escape in a URL, nothing but U+0001 itself is before the second.
const PLACES_AFTER_EMPTY = ['!', '\u0001']

/**
 * The `next` of a page of tags: its last tag. Instead of a tag that no URL could have, and of the empty one, which would
 * end a loop that tests for a value: another text between it and the following tag, if there is one.
 */
export function placeAfter(last: string, following: string): string {
  if (last === '') return PLACES_AFTER_EMPTY.find((place) => place < following) ?? ''
  if (last.length <= MAX_PLACE) return last
  const others = [...following]
  const points = [...last]
  const end = points.findIndex((point, index) => point !== others[index]) + 1
  if (end === 0) return last
  const place = `${points.slice(0, end).join('')}\u{10FFFF}`
  return Buffer.compare(Buffer.from(place), Buffer.from(last)) < 0 ? last : place
}
