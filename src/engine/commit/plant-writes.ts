// The writes of a store, which share commits: changes of plants, and uses of tokens. The same in every engine.

import type { ChangeLog } from '../../change-log/change-log'
import { createChangeLogWatch } from '../../change-log/watch'
import { type ChangedTexts, charactersOf, type PlantUpdate } from '../../plant/plant'
import type { Origin } from '../../plant/plants'
import { toPlant, toRow, toRowId } from '../../plant/row'
import type { Store } from '../../store'
import { type Commit, GroupCommit, type GroupCommitLimits } from './group-commit'
import { hasWritten } from './kinds'
import { createUseRecorder } from './last-use'
import type { RowPatch, Write } from './write'

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
const sizeOfAll = (all: readonly ChangedTexts[]): number =>
  all.reduce((sum, fields) => sum + sizeOf(fields), 0)

const toRowPatch = ({ id, was, ...patch }: PlantUpdate): RowPatch => [
  toRowId(id),
  patch,
  was ?? null,
]

/** The methods of a store that change plants. */
export type PlantChanges = Pick<
  Store,
  | 'createPlant'
  | 'createPlants'
  | 'putPlants'
  | 'patchPlants'
  | 'deletePlants'
  | 'replacePlant'
  | 'patchPlant'
  | 'deletePlant'
  | 'accept'
>

/** The methods that change plants, through a group commit. */
export const plantChanges = (writes: GroupCommit<Write>): PlantChanges => ({
  async createPlant(plant, { signal, origin = null } = {}) {
    await writes.submit({ kind: 'create', row: toRow(plant), origin }, sizeOf(plant), signal)
  },
  async createPlants(plants, { signal, origin = null } = {}) {
    const rows = plants.map(toRow)
    await writes.submit({ kind: 'createAll', rows, origin }, sizeOfAll(plants), signal)
  },
  putPlants(plants, { signal, origin = null } = {}) {
    const rows = plants.map(toRow)
    return writes.submit({ kind: 'putAll', rows, origin }, sizeOfAll(plants), signal)
  },
  async patchPlants(updates, { signal, origin = null } = {}) {
    const rows = updates.map(toRowPatch)
    const size = sizeOfAll(updates) + sizeOfAll(updates.flatMap(({ was = [] }) => was))
    const report = await writes.submit({ kind: 'patchAll', rows, origin }, size, signal)
    const { created, writtenRows, changed, missing } = report
    return {
      created,
      patched: writtenRows.length - created,
      unchanged: rows.length - writtenRows.length - changed.length - missing.length,
      changed: changed.map(BigInt),
      missing: missing.map(BigInt),
    }
  },
  async deletePlants(plants, { signal, origin = null } = {}) {
    const rows = plants.map(toRow)
    const report = await writes.submit(
      { kind: 'deleteAll', rows, origin },
      sizeOfAll(plants),
      signal,
    )
    return {
      deleted: report.deleted.length,
      changed: report.changed.map(BigInt),
      missing: report.missing.map(BigInt),
    }
  },
  async replacePlant(plant, { signal, precondition = null, origin = null } = {}) {
    const change = { kind: 'replace', row: toRow(plant), precondition, origin } as const
    await writes.submit(change, sizeOf(plant), signal)
  },
  async patchPlant(id, patch, { signal, precondition = null, origin = null } = {}) {
    const change = { kind: 'patch', id: toRowId(id), patch, precondition, origin } as const
    return toPlant((await writes.submit(change, sizeOf(patch), signal)).row)
  },
  async deletePlant(id, { signal, precondition = null, origin = null } = {}) {
    const change = { kind: 'delete', id: toRowId(id), precondition, origin } as const
    await writes.submit(change, WRITE_BYTES, signal)
  },
  async accept(edits, countDifference) {
    const bytes = WRITE_BYTES * (1 + edits.length)
    await writes.submit({ kind: 'accept', edits, countDifference, origin: ACCEPTED }, bytes)
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
    const result = await commit(batch)
    const isMade =
      'inDoubt' in result || batch.some((write, index) => hasWritten(write, result[index]))
    if (isMade) wake()
    return result
  }, LIMITS)
  const recordUse = createUseRecorder(async (hash, hour) => {
    await writes.submit({ kind: 'recordUse', hash, hour }, WRITE_BYTES)
    onUsed(hash)
  })
  return { writes, watch, methods: { ...plantChanges(writes), recordUse } }
}
