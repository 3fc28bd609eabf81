// The plants of a file beside the stored ones: which are new, differ, or are unchanged.

import { ClientError } from '../../../client/client.ts'
import type { Plant } from '../../../plant/plant.ts'
import type { Session } from '../session.ts'
import { hasSameTexts } from '../texts.ts'
import { createStoredPlants } from './stored-plants.ts'

export type Comparison = {
  readonly created: number
  readonly differing: number
  readonly unchanged: number
}

/** The reason that plants are not compared: the stored ones are too many, or could not be read. */
export type NotCompared = 'too many' | 'unread'

/** Compares the next plants of a file, and resolves to the sums so far. */
export type Compare = (plants: readonly Plant[]) => Promise<Comparison | NotCompared>

// At least as many plants of a file are remembered, for an id that comes again.
const REMEMBERED = 100_000

/**
 * The last plants that were set, by id: at least {@link REMEMBERED}, at most twice as many. Half of them are dropped at
 * once: to drop the first key of a large Map each time passes all of the deleted ones before it.
 */
function createRecentPlants() {
  let newer = new Map<bigint, Plant>()
  let older = newer
  return {
    get: (id: bigint): Plant | undefined => newer.get(id) ?? older.get(id),
    set(plant: Plant): void {
      newer.set(plant.id, plant)
      if (newer.size < REMEMBERED) return
      older = newer
      newer = new Map()
    },
  }
}

export function createComparison(session: Session): Compare {
  const stored = createStoredPlants(session)
  // Those that are not stored so.
  const seen = createRecentPlants()
  let sums: Comparison | NotCompared = { created: 0, differing: 0, unchanged: 0 }

  async function add(
    before: Comparison,
    plants: readonly Plant[],
  ): Promise<Comparison | NotCompared> {
    if (!(await stored.read(plants.map(({ id }) => id)))) return 'too many'
    let { created, differing, unchanged } = before
    for (const plant of plants) {
      const known = seen.get(plant.id) ?? stored.get(plant.id)
      if (known && hasSameTexts(known, plant)) unchanged += 1
      else {
        if (known) differing += 1
        else created += 1
        seen.set(plant)
      }
    }
    return { created, differing, unchanged }
  }

  return async (plants) => {
    if (typeof sums === 'string') return sums
    try {
      sums = await add(sums, plants)
    } catch (error) {
      if (!(error instanceof ClientError)) throw error
      sums = 'unread'
    }
    return sums
  }
}
