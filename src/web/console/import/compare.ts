// The plants of a file beside the stored ones: which are new, differ, or are unchanged.

import { ClientError, type NewPlant } from '../../../client/client.ts'
import type { Plant } from '../../../plant/plant.ts'
import type { Session } from '../session.ts'
import { hasSameTexts } from '../texts.ts'

/** Pages of a thousand plants that are read for one file. */
const MAX_PAGES = 500
const PAGE = 1000
const LEAST_ID = -(2n ** 63n)

export type Comparison = {
  readonly created: number
  readonly differing: number
  readonly unchanged: number
}

/** Compares the next plants of a file, and resolves to the sums so far; null: too many pages, or no answer. */
export type Compare = (plants: readonly Plant[]) => Promise<Comparison | null>

const ascending = (a: bigint, b: bigint): number => (a < b ? -1 : Number(a > b))

export function createComparison(session: Session): Compare {
  let sums: Comparison | null = { created: 0, differing: 0, unchanged: 0 }
  let pages = 0
  /** No id beyond this one is stored; null: not known. */
  let largest: bigint | null = null

  async function readPage(from: bigint): Promise<readonly NewPlant[]> {
    pages += 1
    const after = from > LEAST_ID ? from - 1n : undefined
    const page = await session.call((client) => client.listPlants({ after, limit: PAGE }))
    if (!page.ok) throw new ClientError(page)
    const { plants, next } = page.value
    if (next === null) largest = plants.at(-1)?.id ?? from - 1n
    return plants
  }

  /** The stored plants of some ids, which share pages where they are near each other; null: too many pages. */
  async function readStored(plants: readonly Plant[]) {
    const stored = new Map<bigint, NewPlant>()
    const wanted = new Set(plants.map(({ id }) => id))
    let rest = [...wanted].sort(ascending)
    for (;;) {
      const [from] = rest
      if (from === undefined || (largest !== null && from > largest)) return stored
      if (pages === MAX_PAGES) return null
      const page = await readPage(from)
      for (const plant of page) if (wanted.has(plant.id)) stored.set(plant.id, plant)
      const last = page.at(-1)?.id ?? from
      rest = rest.filter((id) => id > last)
    }
  }

  async function count(plants: readonly Plant[]): Promise<Comparison | null> {
    const stored = await readStored(plants)
    if (stored === null || sums === null) return null
    let { created, differing, unchanged } = sums
    for (const plant of plants) {
      const before = stored.get(plant.id)
      if (!before) created += 1
      else if (hasSameTexts(before, plant)) unchanged += 1
      else differing += 1
      // An id may come twice.
      stored.set(plant.id, plant)
    }
    return { created, differing, unchanged }
  }

  return async (plants) => {
    if (sums === null) return null
    try {
      sums = await count(plants)
    } catch (error) {
      if (!(error instanceof ClientError)) throw error
      sums = null
    }
    return sums
  }
}
