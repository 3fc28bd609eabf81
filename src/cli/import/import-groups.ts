// Imports plants into a store, in groups that share a commit, and records the result of each row.

import type { Entry } from '../../formats/row'
import { applyUpdate, differingTexts, updateOf } from '../../formats/row-update'
import { type Int64, listWords, type OptionalText, type Plant } from '../../plant/plant'
import { RequestError } from '../../request-errors'
import type { Store } from '../../store'

// Recorded in the change log.
const OPTIONS = { origin: { token: null, address: null, request: 'import' } }

export type RowResult = 'created' | 'skipped' | 'replaced' | { readonly problem: string }

/** One import. */
export type ImportRun = {
  readonly isStrict: boolean
  readonly replaces: boolean
  /** The texts for which the file has no column. */
  readonly unmappedTexts: readonly OptionalText[]
  readonly record: (entry: Entry, result: RowResult) => void
}

type ImportStore = Pick<Store, 'createPlants' | 'putPlants' | 'patchPlants' | 'readPlant'>

/** Plants by their ids. */
export type PlantsById = Map<Int64, Plant>

/** The plants of some entries; those that are refused have none. */
export const plantsOf = (entries: readonly Entry[]): Plant[] =>
  entries.flatMap((entry) => ('plant' in entry ? [entry.plant] : []))

/** The result of an entry, which is applied to the stored plants. */
function predict(
  entry: Entry,
  { replaces, unmappedTexts }: ImportRun,
  storedPlants: PlantsById,
): RowResult {
  if (!('plant' in entry)) return { problem: 'stop' in entry ? entry.stop : entry.problem }
  const { id } = entry.plant
  const stored = storedPlants.get(id)
  if (!stored) {
    storedPlants.set(id, entry.plant)
    return 'created'
  }
  const update = updateOf(entry, unmappedTexts)
  const others = differingTexts(update, stored)
  if (others.length === 0) return 'skipped'
  if (replaces) {
    storedPlants.set(id, applyUpdate(update, stored))
    return 'replaced'
  }
  const names = others.map((name) =>
    stored[name] === undefined ? `no ${name}` : `another ${name}`,
  )
  return {
    problem: `plant ${id} is stored with ${listWords(names)}; use --replace to update it`,
  }
}

/** A row of a file, and its result. */
type ImportedRow = { readonly entry: Entry; readonly result: RowResult }

/** The rows of some entries, in order; those of a strict import end with the first refused one. */
export function predictAll(
  entries: readonly Entry[],
  run: ImportRun,
  storedPlants: PlantsById,
): ImportedRow[] {
  const rows = entries.map((entry) => ({ entry, result: predict(entry, run, storedPlants) }))
  const refusedIndex = rows.findIndex(({ result }) => typeof result !== 'string')
  return run.isStrict && refusedIndex !== -1 ? rows.slice(0, refusedIndex + 1) : rows
}

/** Records the results of rows. Returns false if a strict import ends with them. */
export function recordAll(rows: readonly ImportedRow[], { record, isStrict }: ImportRun): boolean {
  for (const { entry, result } of rows) record(entry, result)
  return !(isStrict && rows.some(({ result }) => typeof result !== 'string'))
}

/** Creates plants as one change; false, and none is created, if one of their ids is taken. */
async function createPlants(store: ImportStore, plants: readonly Plant[]): Promise<boolean> {
  if (plants.length === 0) return true
  try {
    await store.createPlants(plants, OPTIONS)
    return true
  } catch (error) {
    const isTaken = error instanceof RequestError && /^(stored already|taken)$/.test(error.error)
    if (!isTaken) throw error
    return false
  }
}

/** Creates the new plants of a group as one change. The stored ones are read only if an id is taken. */
async function createGroup(
  store: ImportStore,
  entries: readonly Entry[],
  run: ImportRun,
): Promise<ImportedRow[]> {
  const ids = [...new Set(plantsOf(entries).map(({ id }) => id))]
  let stored: (Plant | null)[] = []
  while (true) {
    const storedPlants: PlantsById = new Map()
    for (const plant of stored) if (plant) storedPlants.set(plant.id, plant)
    const rows = predictAll(entries, run, storedPlants)
    const newRows = rows.filter(({ result }) => result === 'created')
    if (await createPlants(store, plantsOf(newRows.map(({ entry }) => entry)))) return rows
    stored = await Promise.all(ids.map((id) => store.readPlant(id)))
  }
}

/** Creates or replaces plants as one change; a text without a column stays as the commit finds it. */
async function putPlants(
  store: ImportStore,
  entries: readonly Entry[],
  unmappedTexts: readonly OptionalText[],
) {
  if (unmappedTexts.length === 0) return store.putPlants(plantsOf(entries), OPTIONS)
  const updates = entries.flatMap((entry) =>
    'plant' in entry ? [updateOf(entry, unmappedTexts)] : [],
  )
  const { created, patched } = await store.patchPlants(updates, OPTIONS)
  return { created, replaced: patched }
}

/** Creates or replaces the plants of a group as one change. */
async function putGroup(
  store: ImportStore,
  entries: readonly Entry[],
  run: ImportRun,
): Promise<ImportedRow[]> {
  const rows = predictAll(entries, run, new Map())
  const { created, replaced } = await putPlants(
    store,
    rows.map(({ entry }) => entry),
    run.unmappedTexts,
  )
  // The store reports only counts, so they are assigned to the rows in any order.
  let index = 0
  const resultOfPut = () => {
    index += 1
    if (index <= created) return 'created'
    return index <= created + replaced ? 'replaced' : 'skipped'
  }
  return rows.map(({ entry, result }) => ({
    entry,
    result: typeof result === 'string' ? resultOfPut() : result,
  }))
}

/** Imports all groups. Resolves to false if a strict import ended at a refused row. */
export async function importGroups(
  store: ImportStore,
  groups: AsyncGenerator<readonly Entry[]>,
  run: ImportRun,
): Promise<boolean> {
  const importGroup = run.replaces ? putGroup : createGroup
  // One group is read while the previous one is being committed.
  let previousGroup: Promise<boolean> = Promise.resolve(true)
  try {
    for await (const group of groups) {
      await previousGroup
      previousGroup = importGroup(store, group, run).then((rows) => recordAll(rows, run))
      // Awaited with the next group, which may take long to arrive; a strict import may end with this one.
      previousGroup.catch(() => {})
      if (run.isStrict && !(await previousGroup)) return false
    }
    return await previousGroup
  } finally {
    await previousGroup.catch(() => {})
  }
}
