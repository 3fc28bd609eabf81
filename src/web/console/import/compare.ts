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

export function createComparison(session: Session): Compare {
  const stored = createStoredPlants(session)
  let sums: Comparison | NotCompared = { created: 0, differing: 0, unchanged: 0 }

  async function add(
    before: Comparison,
    plants: readonly Plant[],
  ): Promise<Comparison | NotCompared> {
    if (!(await stored.read(plants.map(({ id }) => id)))) return 'too many'
    let { created, differing, unchanged } = before
    // An id may come twice.
    const seen = new Map<bigint, Plant>()
    for (const plant of plants) {
      const known = seen.get(plant.id) ?? stored.get(plant.id)
      if (!known) created += 1
      else if (hasSameTexts(known, plant)) unchanged += 1
      else differing += 1
      seen.set(plant.id, plant)
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
