// The writes of a store, which share commits: changes of plants, and uses of tokens. The same in every engine.

import type { ChangeLog } from '../../change-log/change-log'
import { createChangeLogWatch } from '../../change-log/watch'
import { type ChangedTexts, charactersOf, type Plant } from '../../plant/plant'
import type { Origin } from '../../plant/plants'
import { toPlant, toRow, toRowId } from '../../plant/row'
import type { Store } from '../../store'
import { type Commit, GroupCommit, type GroupCommitLimits } from './group-commit'
import { createUseRecorder } from './last-use'
import { hasWritten, type Write } from './write'

/** Limits of the write queue and of a batch. */
export const LIMITS: GroupCommitLimits = {
  queuedWrites: 16_384,
  queuedBytes: 8 * 1024 * 1024,
  batchWrites: 4096,
}

/** The approximate size of a write without its texts. */
export const WRITE_BYTES = 100

const ACCEPTED: Origin = { token: null, address: null, request: 'accept' }

const sizeOf = (fields: ChangedTexts): number => WRITE_BYTES + charactersOf(fields)
const sizeOfAll = (plants: readonly Plant[]): number =>
  plants.reduce((sum, plant) => sum + sizeOf(plant), 0)

/** The methods of a store that change plants. */
export type PlantChanges = Pick<
  Store,
  | 'createPlant'
  | 'createPlants'
  | 'putPlants'
  | 'deletePlants'
  | 'replacePlant'
  | 'patchPlant'
  | 'deletePlant'
  | 'accept'
>

/** The methods that change plants, through a group commit. */
export const plantChanges = (writes: GroupCommit<Write>): PlantChanges => ({
  createPlant: (plant, { signal, origin = null } = {}) =>
    writes.submit({ kind: 'create', row: toRow(plant), origin }, sizeOf(plant), signal),
  createPlants: (plants, { signal, origin = null } = {}) => {
    const change = { kind: 'createAll', rows: plants.map(toRow), origin } as const
    return writes.submit(change, sizeOfAll(plants), signal)
  },
  putPlants: (plants, { signal, origin = null } = {}) => {
    const change = { kind: 'putAll', rows: plants.map(toRow), origin } as const
    return writes.submitForCounts(change, sizeOfAll(plants), signal)
  },
  async deletePlants(plants, { signal, origin = null } = {}) {
    const change = { kind: 'deleteAll', rows: plants.map(toRow), origin } as const
    const rows = await writes.submitForDeleted(change, sizeOfAll(plants), signal)
    const { deleted, changed, missing } = rows
    return {
      deleted: deleted.length,
      changed: changed.map(BigInt),
      missing: missing.map(BigInt),
    }
  },
  replacePlant: (plant, { signal, precondition = null, origin = null } = {}) => {
    const change = { kind: 'replace', row: toRow(plant), precondition, origin } as const
    return writes.submit(change, sizeOf(plant), signal)
  },
  async patchPlant(id, patch, { signal, precondition = null, origin = null } = {}) {
    const change = { kind: 'patch', id: toRowId(id), patch, precondition, origin } as const
    return toPlant(await writes.submitForRow(change, sizeOf(patch), signal))
  },
  deletePlant: (id, { signal, precondition = null, origin = null } = {}) => {
    const change = { kind: 'delete', id: toRowId(id), precondition, origin } as const
    return writes.submit(change, WRITE_BYTES, signal)
  },
  async accept(edits, uncounted) {
    const bytes = WRITE_BYTES * (1 + edits.length)
    return writes.submit({ kind: 'accept', edits, uncounted, origin: ACCEPTED }, bytes)
  },
})

/**
 * Makes the group commit of a store. `readChangeLog` reads its change log; `onUsed` is called for each recorded use of
 * a token.
 */
export function createWrites(
  commit: Commit<Write>,
  readChangeLog: ChangeLog['read'],
  onUsed: (hash: string) => void = () => {},
) {
  const { wake, watch } = createChangeLogWatch(readChangeLog)
  const writes = new GroupCommit<Write>(async (batch) => {
    const committed = await commit(batch)
    if ('inDoubt' in committed || committed.some(hasWritten)) wake()
    return committed
  }, LIMITS)
  const recordUse = createUseRecorder(async (hash, hour) => {
    await writes.submit({ kind: 'recordUse', hash, hour }, WRITE_BYTES)
    onUsed(hash)
  })
  return { writes, watch, methods: { ...plantChanges(writes), recordUse } }
}
