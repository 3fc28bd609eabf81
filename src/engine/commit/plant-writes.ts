// The writes of a store, which share commits: changes of plants, and uses of tokens. The same in every engine.

import type { ChangeLog } from '../../change-log/change-log'
import { createChangeLogWatch } from '../../change-log/watch'
import {
  type ChangedTexts,
  charactersOf,
  type Int64,
  OPTIONAL_TEXTS,
  type Plant,
  type PlantUpdate,
} from '../../plant/plant'
import type { ChangeOptions, CreateOptions } from '../../plant/plants'
import { toPlant, toRow, toRowId } from '../../plant/row'
import type { Store } from '../../store'
import { type Commit, GroupCommit, type GroupCommitLimits } from './group-commit'
import { hasWritten } from './kinds'
import { createUseRecorder } from './last-use'
import type { ChangeAction, RowPatch, Write } from './write'

/** Limits of the write queue and of a batch. */
export const LIMITS: GroupCommitLimits = {
  queuedWrites: 16_384,
  queuedBytes: 8 * 1024 * 1024,
  batchWrites: 4096,
}

/** The approximate size of a write without its texts. */
export const WRITE_BYTES = 100

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
>

/** The patch that replaces all texts of a plant. */
function toReplacement(plant: Plant): ChangedTexts {
  const patch: { -readonly [Name in keyof ChangedTexts]: ChangedTexts[Name] } = { name: plant.name }
  for (const text of OPTIONAL_TEXTS) patch[text] = plant[text] ?? null
  return patch
}

/** The methods that change plants, through a group commit. */
export function plantChanges(writes: GroupCommit<Write>): PlantChanges {
  async function changeAll(
    action: ChangeAction,
    rows: readonly RowPatch[],
    size: number,
    options: CreateOptions = {},
  ) {
    const origin = options.origin ?? null
    const write = { kind: 'changeAll', rows, action, origin } as const
    const report = await writes.submit(write, size, options.signal)
    const { created, writtenRows, conflicts, missing } = report
    return {
      created,
      patched: writtenRows.length - created,
      unchanged: rows.length - writtenRows.length - conflicts.length - missing.length,
      conflicts: conflicts.map(BigInt),
      missing: missing.map(BigInt),
    }
  }
  async function change(
    action: ChangeAction,
    id: Int64,
    patch: ChangedTexts,
    options: ChangeOptions = {},
  ) {
    const precondition = options.precondition ?? null
    const origin = options.origin ?? null
    const write = { kind: 'change', id: toRowId(id), patch, action, precondition, origin } as const
    return toPlant((await writes.submit(write, sizeOf(patch), options.signal)).row)
  }
  return {
    async createPlant(plant, { signal, origin = null } = {}) {
      await writes.submit({ kind: 'create', row: toRow(plant), origin }, sizeOf(plant), signal)
    },
    async createPlants(plants, { signal, origin = null } = {}) {
      const rows = plants.map(toRow)
      await writes.submit({ kind: 'createAll', rows, origin }, sizeOfAll(plants), signal)
    },
    async putPlants(plants, options) {
      const rows = plants.map((plant): RowPatch => [toRowId(plant.id), toReplacement(plant), null])
      const counts = await changeAll('replace', rows, sizeOfAll(plants), options)
      return { created: counts.created, replaced: counts.patched, unchanged: counts.unchanged }
    },
    patchPlants(updates, options) {
      const size = sizeOfAll(updates) + sizeOfAll(updates.flatMap(({ was = [] }) => was))
      return changeAll('patch', updates.map(toRowPatch), size, options)
    },
    async deletePlants(plants, { signal, origin = null } = {}) {
      const rows = plants.map(toRow)
      const size = sizeOfAll(plants)
      const report = await writes.submit({ kind: 'deleteAll', rows, origin }, size, signal)
      return {
        deleted: report.deleted.length,
        conflicts: report.conflicts.map(BigInt),
        missing: report.missing.map(BigInt),
      }
    },
    async replacePlant(plant, options) {
      await change('replace', plant.id, toReplacement(plant), options)
    },
    patchPlant: (id, patch, options) => change('patch', id, patch, options),
    async deletePlant(id, { signal, precondition = null, origin = null } = {}) {
      const write = { kind: 'delete', id: toRowId(id), precondition, origin } as const
      await writes.submit(write, WRITE_BYTES, signal)
    },
  }
}

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
