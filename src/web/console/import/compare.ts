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

/** Compares the next rows of a file; resolves to the sums so far, or to `failed` if too many are stored, or none is read. */
export type Compare = (updates: readonly RowUpdate[]) => Promise<Comparison | 'failed'>

export function createComparison(session: Session): Compare {
  const storedPlants = createStoredPlants(session)
  // The plants of the file that differ from the stored ones: it may repeat an id.
  const changedPlants = new Map<bigint, NewPlant>()
  const differences: Difference[] = []
  const none = { created: 0, differing: 0, unchanged: 0 }
  let sums: Comparison | 'failed' = { ...none, differences, storedOf: storedPlants.get }

  async function add(
    before: Comparison,
    updates: readonly RowUpdate[],
  ): Promise<Comparison | 'failed'> {
    if (!(await storedPlants.read(updates.map(({ id }) => id)))) return 'failed'
    let { created, differing, unchanged } = before
    for (const update of updates) {
      const storedPlant = changedPlants.get(update.id) ?? storedPlants.get(update.id)
      const after = applyUpdate(update, storedPlant)
      if (storedPlant && hasSameTexts(storedPlant, after)) unchanged += 1
      else {
        if (storedPlant) {
          differing += 1
          differences.push({ before: storedPlant, after })
        } else created += 1
        changedPlants.set(after.id, after)
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
      sums = 'failed'
    }
    return sums
  }
}
