// Imports plants into a store, in groups that share a commit, and records the result of each row.

import { RequestError } from '../../errors'
import type { Entry } from '../../formats/row'
import { differingTexts, type RowUpdate, updateOf } from '../../formats/row-update'
import { listWords, type OptionalText, type Plant } from '../../plant/plant'
import type { Store } from '../../store'

// Recorded in the change log.
const ORIGIN = { token: null, address: null, request: 'import' }

export type RowResult = 'created' | 'skipped' | 'replaced' | { readonly problem: string }

/** One import. */
export type ImportRun = {
  readonly store: Pick<
    Store,
    'createPlant' | 'createPlants' | 'putPlants' | 'patchPlants' | 'readPlant'
  >
  readonly isStrict: boolean
  readonly replaces: boolean
  /** The texts for which the file has no column. */
  readonly unmappedTexts: readonly OptionalText[]
  readonly record: (entry: Entry, result: RowResult) => void
}

/** Called before each group; the import ends if it returns false. */
export type OnGroup = (group: readonly Entry[]) => boolean

// The refusals of a plant whose id is taken.
const ID_TAKEN = ['stored already', 'taken']

/** Makes a change. Resolves to its refusal if the id is taken, or to null on success. */
async function refusalOf(change: Promise<void>): Promise<RequestError | null> {
  try {
    await change
    return null
  } catch (error) {
    if (error instanceof RequestError && ID_TAKEN.includes(error.error)) return error
    throw error
  }
}

/** The problem of an entry without a plant. */
export const problemOf = (entry: Exclude<Entry, { readonly plant: Plant }>) => ({
  problem: 'stop' in entry ? entry.stop : entry.problem,
})

const plantsOf = (entries: readonly Entry[]): Plant[] =>
  entries.flatMap((entry) => ('plant' in entry ? [entry.plant] : []))

/** The result of a row whose id is taken. `storedPlant`: null if it has been deleted meanwhile. */
export function compareStored(update: RowUpdate, storedPlant: Plant | null): RowResult {
  const others = storedPlant
    ? differingTexts(update, storedPlant).map((name) =>
        storedPlant[name] === undefined ? `no ${name}` : `another ${name}`,
      )
    : ['other fields']
  if (others.length === 0) return 'skipped'
  const problem = `plant ${update.id} is stored with ${listWords(others)}; use --replace to update it`
  return { problem }
}

async function importEntry({ store, unmappedTexts }: ImportRun, entry: Entry): Promise<RowResult> {
  if (!('plant' in entry)) return problemOf(entry)
  const { plant } = entry
  const refusal = await refusalOf(store.createPlant(plant, { origin: ORIGIN }))
  if (!refusal) return 'created'
  if (refusal.error === 'stored already') return 'skipped'
  return compareStored(updateOf(entry, unmappedTexts), await store.readPlant(plant.id))
}

/** Creates the plants of a group as one change; false, and none is created, if one of their ids is taken. */
const createGroup = async (run: ImportRun, entries: readonly Entry[]): Promise<boolean> =>
  (await refusalOf(run.store.createPlants(plantsOf(entries), { origin: ORIGIN }))) === null

async function importEach(run: ImportRun, entries: readonly Entry[]): Promise<void> {
  const results = await Promise.allSettled(entries.map((entry) => importEntry(run, entry)))
  for (const [index, entry] of entries.entries()) {
    const result = results[index]
    if (result?.status === 'fulfilled') run.record(entry, result.value)
  }
  const failure = results.find((result) => result.status === 'rejected')
  if (failure) throw failure.reason
}

/** Creates or replaces plants as one change; a text without a column stays as the commit finds it. */
async function putPlants({ store, unmappedTexts }: ImportRun, entries: readonly Entry[]) {
  if (unmappedTexts.length === 0) return store.putPlants(plantsOf(entries), { origin: ORIGIN })
  const updates = entries.flatMap((entry) =>
    'plant' in entry ? [updateOf(entry, unmappedTexts)] : [],
  )
  const { created, patched } = await store.patchPlants(updates, { origin: ORIGIN })
  return { created, replaced: patched }
}

/** Creates or replaces the plants of a group as one change. False: a strict import ends here. */
async function putGroup(run: ImportRun, entries: readonly Entry[]): Promise<boolean> {
  const refusedIndex = run.isStrict ? entries.findIndex((entry) => !('plant' in entry)) : -1
  const entriesToPut = refusedIndex === -1 ? entries : entries.slice(0, refusedIndex + 1)
  const counts = await putPlants(run, entriesToPut)
  // The store reports only counts, so the results are assigned to the rows in any order.
  const results: RowResult[] = [
    ...Array<RowResult>(counts.created).fill('created'),
    ...Array<RowResult>(counts.replaced).fill('replaced'),
  ]
  for (const entry of entriesToPut) {
    run.record(entry, 'plant' in entry ? (results.shift() ?? 'skipped') : problemOf(entry))
  }
  return refusedIndex === -1
}

async function importUntilRefused(run: ImportRun, entries: readonly Entry[]): Promise<boolean> {
  for (const entry of entries) {
    const result = await importEntry(run, entry)
    run.record(entry, result)
    if (typeof result !== 'string') return false
  }
  return true
}

/** Imports a group as one change, which costs less; one by one if that is refused. False: a strict import ends here. */
async function importGroup(run: ImportRun, entries: readonly Entry[]): Promise<boolean> {
  const { isStrict, replaces, record } = run
  if (replaces) return putGroup(run, entries)
  const isWhole = entries.every((entry) => 'plant' in entry)
  if ((isWhole || !isStrict) && (await createGroup(run, entries))) {
    for (const entry of entries) record(entry, 'plant' in entry ? 'created' : problemOf(entry))
    return true
  }
  if (isStrict) return importUntilRefused(run, entries)
  await importEach(run, entries)
  return true
}

/** Imports all groups. Resolves to false if a strict import ended at a refused row. */
export async function importGroups(
  run: ImportRun,
  groups: AsyncGenerator<readonly Entry[]>,
  onGroup: OnGroup,
): Promise<boolean> {
  // One group is read while the previous one is being committed.
  let previousGroup: Promise<boolean> = Promise.resolve(true)
  try {
    for await (const group of groups) {
      await previousGroup
      if (!onGroup(group)) return true
      previousGroup = importGroup(run, group)
      // Awaited with the next group, which may take long to arrive; a strict import may end with this one.
      previousGroup.catch(() => {})
      if (run.isStrict && !(await previousGroup)) return false
    }
    return await previousGroup
  } finally {
    await previousGroup.catch(() => {})
  }
}
