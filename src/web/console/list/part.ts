// A part of a list in the order of ids, and its split by a page that was read.

import type { NewPlant, PlantPage } from '../../../client/client.ts'
import type { IdOrder } from './id-order.ts'

/** The start of a page: an id, or the `next` of another page; null: the bound of the list. */
export type Cursor = bigint | string | null

/** The plants after `after`, up to and including `last`; in a descending list, ids fall. */
export type Part = {
  /** null: from the beginning. */
  readonly after: bigint | null
  readonly last: bigint
  /** The number of its plants; an estimate until it is read. */
  count: number
  /** null if they are not held. */
  rows: NewPlant[] | null
  /** True if the part was read: its count is exact, except for later changes by others. */
  readonly isRead: boolean
  /** True if the plants may have changed. */
  isStale?: boolean
  /** The cursors of the next page and of the one before. */
  readonly forward?: Cursor
  readonly backward?: Cursor
}

const SHARES = 1_000_000

/** A completely read part: the plants between two bounds. */
function createReadPart(
  { isBefore }: IdOrder,
  after: bigint | null,
  last: bigint,
  plants: readonly NewPlant[],
): Part {
  const rows = plants.filter(
    ({ id }) => !isBefore(last, id) && (after === null || isBefore(after, id)),
  )
  return { after, last, count: rows.length, rows, isRead: true }
}

/** The unread rest of a part, without the plants that were read. */
const restOf = (part: Part, fewer: number, bounds: Partial<Part>): Part => ({
  ...part,
  rows: null,
  isRead: false,
  isStale: false,
  count: Math.max(1, part.count - fewer),
  ...bounds,
})

/** Splits a part by a page that begins after an id of the part. */
export function splitForward(
  order: IdOrder,
  part: Part,
  after: bigint | null,
  { plants, next }: PlantPage,
): Part[] {
  const end = plants.at(-1)?.id
  const isWhole = next === null || (end !== undefined && !order.isBefore(end, part.last))
  if (isWhole) return [createReadPart(order, after, part.last, plants)]
  if (end === undefined) return [restOf(part, 0, { after, forward: next })]
  const first = createReadPart(order, after, end, plants)
  return [first, restOf(part, first.count, { after: end, forward: next })]
}

/** Splits a part by a page against the order of the list, from the end of the part on. */
export function splitBack(order: IdOrder, part: Part, { plants, next }: PlantPage): Part[] {
  const first = plants.at(-1)?.id
  const { after } = part
  const isWhole =
    next === null || (first !== undefined && after !== null && !order.isBefore(after, first))
  const all = plants.toReversed()
  if (isWhole) return [createReadPart(order, after, part.last, all)]
  if (first === undefined) return [restOf(part, 0, { backward: next })]
  const end = first - order.step
  const last = createReadPart(order, end, part.last, all)
  return [restOf(part, last.count, { last: end, backward: next }), last]
}

/** Splits a part by a page after a guessed id, after a number of its rows. */
export const splitMiddle = (
  order: IdOrder,
  part: Part,
  from: bigint,
  rows: number,
  page: PlantPage,
): Part[] => [
  restOf(part, part.count - rows, { last: from, backward: null }),
  ...splitForward(order, restOf(part, rows, { forward: null }), from, page),
]

/** The approximate number of rows of a part before an id, as if ids were spread evenly. */
export function rowsBefore({ after, last, count }: Part, id: bigint): number {
  if (after === null) return Math.max(0, count - 1)
  const share = ((id - after) * BigInt(SHARES)) / (last - after)
  return Math.min(count - 1, Math.floor((Number(share) / SHARES) * count))
}

/** The approximate id after a number of rows of a part, as if ids were spread evenly. */
export function guessId({ last, count }: Part, after: bigint, rows: number): bigint {
  const share = BigInt(Math.floor((rows / count) * SHARES))
  return after + ((last - after) * share) / BigInt(SHARES)
}
