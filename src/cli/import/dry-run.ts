// Predicts the results of an import, without a writable store. Needs memory for the whole file.

import type { PlantParts } from '../../engine/engine'
import type { Entry } from '../../formats/row'
import { applyUpdate, updateOf } from '../../formats/row-update'
import type { Int64, Plant } from '../../plant/plant'
import {
  compareStored,
  type ImportRun,
  type OnGroup,
  problemOf,
  type RowResult,
} from './import-groups'

/**
 * Collects all groups, then compares them with the stored plants, which `readStored` reads. Resolves to false if a
 * strict import would end at a refused row.
 */
export async function dryRun(
  { isStrict, replaces, unmappedTexts, record }: Omit<ImportRun, 'store'>,
  groups: AsyncGenerator<readonly Entry[]>,
  onGroup: OnGroup,
  readStored: <T>(read: (parts: PlantParts) => Promise<T>) => Promise<T>,
): Promise<boolean> {
  const entries: Entry[] = []
  for await (const group of groups) {
    if (!onGroup(group)) break
    entries.push(...group)
  }

  const ids = new Set(entries.flatMap((entry) => ('plant' in entry ? [entry.plant.id] : [])))
  const plantsById = await readStored(async (parts) => {
    const storedPlants = new Map<Int64, Plant>()
    for await (const plants of parts) {
      for (const plant of plants) if (ids.has(plant.id)) storedPlants.set(plant.id, plant)
    }
    return storedPlants
  })

  /** The result of an entry. Applies it to the plants that would be stored by then. */
  function predict(entry: Entry): RowResult {
    if (!('plant' in entry)) return problemOf(entry)
    const update = updateOf(entry, unmappedTexts)
    const storedPlant = plantsById.get(update.id)
    if (!storedPlant || replaces) plantsById.set(update.id, applyUpdate(update, storedPlant))
    if (!storedPlant) return 'created'
    const result = compareStored(update, storedPlant)
    return replaces && result !== 'skipped' ? 'replaced' : result
  }

  for (const entry of entries) {
    const result = predict(entry)
    record(entry, result)
    if (isStrict && typeof result !== 'string') return false
  }
  return true
}
