// What a store does by group commit, in every engine: the methods that change plants, and the records of uses of tokens.

import { type ChangedTexts, charactersOf } from '../plant/plant'
import type { Journal, Store } from '../store'
import type { Change } from './change'
import { type Commit, GroupCommit, type GroupCommitLimits } from './group-commit'
import { createJournalWatch } from './journal/watch'
import { createUseRecorder } from './last-use'
import { toPlant, toRow, toRowId } from './row'

/** How much may wait for a commit, and share one. */
export const LIMITS: GroupCommitLimits = {
  queuedChanges: 16_384,
  queuedBytes: 8 * 1024 * 1024,
  batchChanges: 4096,
}

/** The approximate size of a change without its texts. */
export const CHANGE_BYTES = 100

const sizeOf = (fields: ChangedTexts): number => CHANGE_BYTES + charactersOf(fields)

type PlantChanges = Pick<
  Store,
  'createPlant' | 'createPlants' | 'replacePlant' | 'patchPlant' | 'deletePlant'
>

/** The methods that change plants, through a group commit. */
export const plantChanges = (changes: GroupCommit<Change>): PlantChanges => ({
  createPlant: (plant, { signal, origin = null } = {}) =>
    changes.submit(['create', toRow(plant), origin], sizeOf(plant), signal),
  createPlants: (plants, { signal, origin = null } = {}) => {
    const bytes = plants.reduce((sum, plant) => sum + sizeOf(plant), 0)
    return changes.submit(['createAll', plants.map(toRow), origin], bytes, signal)
  },
  replacePlant: (plant, { signal, precondition = null, origin = null } = {}) => {
    const row = toRow(plant)
    return changes.submit(['replace', row[0], precondition, row, origin], sizeOf(plant), signal)
  },
  async patchPlant(id, patch, { signal, precondition = null, origin = null } = {}) {
    const change: Change = ['patch', toRowId(id), precondition, patch, origin]
    return toPlant(await changes.submitForRow(change, sizeOf(patch), signal))
  },
  deletePlant: (id, { signal, precondition = null, origin = null } = {}) =>
    changes.submit(['delete', toRowId(id), precondition, origin], CHANGE_BYTES, signal),
})

/** The group commit of a store. `readJournal` reads its journal; `onUsed` is called when the use of a token is recorded. */
export function createChanges(
  commit: Commit<Change>,
  readJournal: Journal['read'],
  onUsed: (hash: string) => void = () => {},
) {
  const { wake, watch } = createJournalWatch(readJournal)
  const changes = new GroupCommit<Change>(async (batch) => {
    const committed = await commit(batch)
    wake()
    return committed
  }, LIMITS)
  const recordUse = createUseRecorder(async (hash, hour) => {
    await changes.submit(['use', hash, hour], CHANGE_BYTES)
    onUsed(hash)
  })
  return { changes, watch, methods: { ...plantChanges(changes), recordUse } }
}
