// Predicts the results of an import, without a writable store. Needs memory for the whole file.

import type { PlantParts } from '../../engine/engine'
import type { Entry } from '../../formats/row'
import { applyUpdate, updateOf } from '../../formats/row-update'
import type { Int64, Plant } from '../../plant/plant'
import { compareStored, type ImportRun, problemOf, type RowResult } from './import-groups'

/** Collects the entries of a file, then compares them with the stored plants, which are read once. */
export function createDryRun({
  isStrict,
  replaces,
  unmappedTexts,
  record,
}: Omit<ImportRun, 'store'>) {
  const entries: Entry[] = []

  /** The result of an entry. Applies it to the plants that would be stored by then. */
  function predict(entry: Entry, plantsById: Map<Int64, Plant>): RowResult {
    if (!('plant' in entry)) return problemOf(entry)
    const update = updateOf(entry, unmappedTexts)
    const storedPlant = plantsById.get(update.id)
    if (!storedPlant || replaces) plantsById.set(update.id, applyUpdate(update, storedPlant))
    if (!storedPlant) return 'created'
    const result = compareStored(update, storedPlant)
    return replaces && result !== 'skipped' ? 'replaced' : result
  }

  return {
    add: (group: readonly Entry[]) => void entries.push(...group),
    /** Resolves to false if a strict import would end at a refused row. */
    async end(storedParts: PlantParts): Promise<boolean> {
      const ids = new Set(entries.flatMap((entry) => ('plant' in entry ? [entry.plant.id] : [])))
      const plantsById = new Map<Int64, Plant>()
      for await (const plants of storedParts) {
        for (const plant of plants) if (ids.has(plant.id)) plantsById.set(plant.id, plant)
      }
      for (const entry of entries) {
        const result = predict(entry, plantsById)
        record(entry, result)
        if (isStrict && typeof result !== 'string') return false
      }
      return true
    },
  }
}
