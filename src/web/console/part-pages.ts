// What a page that was read makes of a part: plants, and what is still not read before or behind them.

import type { NewPlant, PlantPage } from '../../client/client.ts'
import type { Part, PartList } from './part-list.ts'

const SHARES = 1_000_000

export type PartPages = ReturnType<typeof createPartPages>

/** `isHidden`: whether a plant is left out, as it is about to be deleted. */
export function createPartPages(parts: PartList, isHidden: (id: bigint) => boolean) {
  /** The part between two bounds, of which everything was read. */
  const read = (after: bigint | null, last: bigint, plants: readonly NewPlant[]): Part => {
    const rows = plants.filter(
      ({ id }) =>
        !isHidden(id) && !parts.isBefore(last, id) && (after === null || parts.isBefore(after, id)),
    )
    return { after, last, count: rows.length, rows, isRead: true }
  }

  /** What is left of a part of which so many plants were read. */
  const rest = (part: Part, less: number, bounds: Partial<Part>): Part => ({
    ...part,
    rows: null,
    isRead: false,
    isStale: false,
    count: Math.max(1, part.count - less),
    ...bounds,
  })

  /** A page from an id of the part on. */
  function forward(part: Part, after: bigint | null, { plants, next }: PlantPage): Part[] {
    const end = plants.at(-1)?.id
    const isWhole = next === null || (end !== undefined && !parts.isBefore(end, part.last))
    if (isWhole) return [read(after, part.last, plants)]
    if (end === undefined) return [rest(part, 0, { after, forward: next })]
    const first = read(after, end, plants)
    return [first, rest(part, first.count, { after: end, forward: next })]
  }

  return {
    read,
    forward,

    /** A page against the order of the list, from the end of the part on. */
    back(part: Part, { plants, next }: PlantPage): Part[] {
      const first = plants.at(-1)?.id
      const { after } = part
      const isWhole =
        next === null || (first !== undefined && after !== null && !parts.isBefore(after, first))
      const all = plants.toReversed()
      if (isWhole) return [read(after, part.last, all)]
      if (first === undefined) return [rest(part, 0, { backward: next })]
      const end = first - parts.step()
      const last = read(end, part.last, all)
      return [rest(part, last.count, { last: end, backward: next }), last]
    },

    /** About which id is behind so many rows of a part, as if ids were spread evenly. */
    guess({ last, count }: Part, after: bigint, rows: number): bigint {
      const share = BigInt(Math.floor((rows / count) * SHARES))
      return after + ((last - after) * share) / BigInt(SHARES)
    },

    /** A page from a guessed id on, behind so many rows of the part. */
    middle(part: Part, from: bigint, rows: number, page: PlantPage): Part[] {
      return [
        rest(part, part.count - rows, { last: from, backward: null }),
        ...forward(rest(part, rows, { forward: null }), from, page),
      ]
    },
  }
}
