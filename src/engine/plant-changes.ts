// The methods of a store that change plants: each submits a change to group commit.

import type { NewPlant } from '../plant'
import type { PlantPatch, Store } from '../store'
import { type Change, toPlant, toRow, toRowId } from './change'
import type { GroupCommit, GroupCommitLimits } from './group-commit'

/** How much may wait for a commit, and share one. */
export const LIMITS: GroupCommitLimits = {
  queuedChanges: 16_384,
  queuedBytes: 8 * 1024 * 1024,
  batchChanges: 4096,
}

/** The approximate size of a change without its texts. */
export const CHANGE_BYTES = 100

const sizeOf = ({ name, tag }: NewPlant | PlantPatch): number =>
  CHANGE_BYTES + (name?.length ?? 0) + (tag?.length ?? 0)

type PlantChanges = Pick<
  Store,
  'createPlant' | 'createPlants' | 'replacePlant' | 'patchPlant' | 'deletePlant'
>

/** The methods that change plants, through a group commit. */
export const plantChanges = (changes: GroupCommit<Change>): PlantChanges => ({
  createPlant: (plant, signal) => changes.submit(['create', toRow(plant)], sizeOf(plant), signal),
  createPlants: (plants, signal) => {
    const bytes = plants.reduce((sum, plant) => sum + sizeOf(plant), 0)
    return changes.submit(['createAll', plants.map(toRow)], bytes, signal)
  },
  replacePlant: (plant, { signal, precondition } = {}) => {
    const row = toRow(plant)
    const change: Change = precondition ? ['replace', row, precondition] : ['replace', row]
    return changes.submit(change, sizeOf(plant), signal)
  },
  async patchPlant(id, patch, { signal, precondition } = {}) {
    const rowId = toRowId(id)
    const change: Change = precondition
      ? ['patch', rowId, patch, precondition]
      : ['patch', rowId, patch]
    return toPlant(await changes.submitForRow(change, sizeOf(patch), signal))
  },
  deletePlant: (id, { signal, precondition } = {}) => {
    const rowId = toRowId(id)
    const change: Change = precondition ? ['delete', rowId, precondition] : ['delete', rowId]
    return changes.submit(change, CHANGE_BYTES, signal)
  },
})
