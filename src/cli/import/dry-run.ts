// Predicts the results of an import, without a writable store. Needs memory for the whole file.

import type { PlantParts } from '../../engine/engine'
import type { Entry } from '../../formats/row'
import { type ImportRun, type PlantsById, plantsOf, predictAll, recordAll } from './import-groups'

/**
 * Collects all groups, then compares them with the stored plants, which `readStored` reads. Resolves to false if a
 * strict import would end at a refused row.
 */
export async function dryRun(
  groups: AsyncGenerator<readonly Entry[]>,
  run: ImportRun,
  readStored: <T>(read: (parts: PlantParts) => Promise<T>) => Promise<T>,
): Promise<boolean> {
  const entries: Entry[] = []
  for await (const group of groups) entries.push(...group)
  const ids = new Set(plantsOf(entries).map(({ id }) => id))
  const storedPlants = await readStored(async (parts) => {
    const plants: PlantsById = new Map()
    for await (const part of parts) {
      for (const plant of part) if (ids.has(plant.id)) plants.set(plant.id, plant)
    }
    return plants
  })
  return recordAll(predictAll(entries, run, storedPlants), run)
}
