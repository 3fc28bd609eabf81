// Compares the plants of a file with the stored ones: new, different or unchanged.

import { ClientError, type NewPlant } from '../../../client/client.ts'
import { applyUpdate, type RowUpdate } from '../../../formats/row-update.ts'
import type { Session } from '../session.ts'
import { hasSameTexts } from '../texts.ts'
import { createStoredPlants } from './stored-plants.ts'

/** A stored plant, and the plant as the file leaves it. */
export type Difference = { readonly before: NewPlant; readonly after: NewPlant }

export type Comparison = {
  readonly created: number
  readonly differing: number
  readonly unchanged: number
  readonly differences: readonly Difference[]
  /** A plant as it was stored. */
  readonly storedOf: (id: bigint) => NewPlant | undefined
}

/** The reason that plants are not compared: too many are stored, or they could not be read. */
export type ComparisonFailure = 'too many' | 'unread'

/** Compares the next rows of a file, and resolves to the sums so far. */
export type Compare = (updates: readonly RowUpdate[]) => Promise<Comparison | ComparisonFailure>

// The minimum number of recent plants to remember, for ids that are repeated in a file.
const MIN_REMEMBERED = 100_000

/**
 * The plants that were set last, by id: at least {@link MIN_REMEMBERED}, at most twice as many. Half of them are dropped at
 * once: dropping the first key of a large Map each time would pass all deleted keys before it.
 */
function createRecentPlants() {
  let newer = new Map<bigint, NewPlant>()
  let older = newer
  return {
    get: (id: bigint): NewPlant | undefined => newer.get(id) ?? older.get(id),
    set(plant: NewPlant): void {
      newer.set(plant.id, plant)
      if (newer.size < MIN_REMEMBERED) return
      older = newer
      newer = new Map()
    },
  }
}

export function createComparison(session: Session): Compare {
  const storedPlants = createStoredPlants(session)
  // The plants of the file that differ from the stored ones.
  const recentPlants = createRecentPlants()
  const differences: Difference[] = []
  const none = { created: 0, differing: 0, unchanged: 0 }
  let sums: Comparison | ComparisonFailure = { ...none, differences, storedOf: storedPlants.get }

  async function add(
    before: Comparison,
    updates: readonly RowUpdate[],
  ): Promise<Comparison | ComparisonFailure> {
    if (!(await storedPlants.read(updates.map(({ id }) => id)))) return 'too many'
    let { created, differing, unchanged } = before
    for (const update of updates) {
      const storedPlant = recentPlants.get(update.id) ?? storedPlants.get(update.id)
      const after = applyUpdate(update, storedPlant)
      if (storedPlant && hasSameTexts(storedPlant, after)) unchanged += 1
      else {
        if (storedPlant) {
          differing += 1
          differences.push({ before: storedPlant, after })
        } else created += 1
        recentPlants.set(after)
      }
    }
    return { ...before, created, differing, unchanged }
  }

  return async (updates) => {
    if (typeof sums === 'string') return sums
    try {
      sums = await add(sums, updates)
    } catch (error) {
      if (!(error instanceof ClientError)) throw error
      sums = 'unread'
    }
    return sums
  }
}
