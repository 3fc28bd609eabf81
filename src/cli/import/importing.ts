// Imports plants into a store, in groups that share a commit, and counts the results.

import type { PlantParts } from '../../engine/engine'
import { RequestError } from '../../errors'
import { differingTexts, type GivenPlant, givenOf, plantOf } from '../../formats/given'
import type { Entry } from '../../formats/row'
import { type Int64, listWords, type OptionalText, type Plant } from '../../plant/plant'
import type { Store } from '../../store'

// Recorded in the change log.
const ORIGIN = { token: null, address: null, request: 'import' }

export type Result = 'created' | 'skipped' | 'replaced' | { readonly problem: string }

/** One import. */
export type ImportRun = {
  readonly store: Pick<
    Store,
    'createPlant' | 'createPlants' | 'putPlants' | 'patchPlants' | 'readPlant'
  >
  readonly isStrict: boolean
  readonly replaces: boolean
  /** The texts for which the file has no column. */
  readonly keptFields: readonly OptionalText[]
  readonly account: (entry: Entry, result: Result) => void
}

// The refusals of a plant whose id is taken.
const TAKEN = ['stored already', 'taken']

/** Makes a change. Resolves to its refusal if the id is taken, or to null on success. */
async function refusalOf(change: Promise<void>): Promise<RequestError | null> {
  try {
    await change
    return null
  } catch (error) {
    if (error instanceof RequestError && TAKEN.includes(error.error)) return error
    throw error
  }
}

/** The problem of an entry without a plant. */
const problemOf = (entry: Exclude<Entry, { readonly plant: Plant }>) => ({
  problem: 'stop' in entry ? entry.stop : entry.problem,
})

const plantsOf = (entries: readonly Entry[]): Plant[] =>
  entries.flatMap((entry) => ('plant' in entry ? [entry.plant] : []))

/** The result of a plant whose id is stored with other fields; null: the stored one has been deleted meanwhile. */
function compareTaken(rowPlant: GivenPlant, storedPlant: Plant | null): Result {
  const others = storedPlant
    ? differingTexts(rowPlant, storedPlant).map((name) =>
        storedPlant[name] === undefined ? `no ${name}` : `another ${name}`,
      )
    : ['other fields']
  if (others.length === 0) return 'skipped'
  const problem = `plant ${rowPlant.id} is stored with ${listWords(others)}; use --replace to update it`
  return { problem }
}

async function importEntry({ store, keptFields }: ImportRun, entry: Entry): Promise<Result> {
  if (!('plant' in entry)) return problemOf(entry)
  const { plant } = entry
  const refusal = await refusalOf(store.createPlant(plant, { origin: ORIGIN }))
  if (!refusal) return 'created'
  if (refusal.error === 'stored already') return 'skipped'
  return compareTaken(givenOf(entry, keptFields), await store.readPlant(plant.id))
}

/** Creates the plants of a group as one change; false, and none is created, if one of their ids is taken. */
const createAll = async (run: ImportRun, entries: readonly Entry[]): Promise<boolean> =>
  (await refusalOf(run.store.createPlants(plantsOf(entries), { origin: ORIGIN }))) === null

async function importEach(run: ImportRun, entries: readonly Entry[]): Promise<void> {
  const results = await Promise.allSettled(entries.map((entry) => importEntry(run, entry)))
  for (const [index, entry] of entries.entries()) {
    const result = results[index]
    if (result?.status === 'fulfilled') run.account(entry, result.value)
  }
  const failure = results.find((result) => result.status === 'rejected')
  if (failure) throw failure.reason
}

/** Creates or replaces plants as one change; a text without a column stays as the commit finds it. */
async function putAll({ store, keptFields }: ImportRun, entries: readonly Entry[]) {
  if (keptFields.length === 0) return store.putPlants(plantsOf(entries), { origin: ORIGIN })
  const rowPlants = entries.flatMap((entry) =>
    'plant' in entry ? [givenOf(entry, keptFields)] : [],
  )
  const { created, patched } = await store.patchPlants(rowPlants, { origin: ORIGIN })
  return { created, replaced: patched }
}

/** Creates or replaces the plants of a group as one change. False: a strict import ends here. */
async function putGroup(run: ImportRun, entries: readonly Entry[]): Promise<boolean> {
  const refusedIndex = run.isStrict ? entries.findIndex((entry) => !('plant' in entry)) : -1
  const entriesToPut = refusedIndex === -1 ? entries : entries.slice(0, refusedIndex + 1)
  const counts = await putAll(run, entriesToPut)
  // The store reports only counts, which is all that the account needs.
  const results: Result[] = [
    ...Array<Result>(counts.created).fill('created'),
    ...Array<Result>(counts.replaced).fill('replaced'),
  ]
  for (const entry of entriesToPut) {
    run.account(entry, 'plant' in entry ? (results.shift() ?? 'skipped') : problemOf(entry))
  }
  return refusedIndex === -1
}

async function importUntilRefused(run: ImportRun, entries: readonly Entry[]): Promise<boolean> {
  for (const entry of entries) {
    const result = await importEntry(run, entry)
    run.account(entry, result)
    if (typeof result !== 'string') return false
  }
  return true
}

/** Imports a group as one change, which costs less; one by one if that is refused. False: a strict import ends here. */
async function importGroup(run: ImportRun, entries: readonly Entry[]): Promise<boolean> {
  const { isStrict, replaces, account } = run
  if (replaces) return putGroup(run, entries)
  const isWhole = entries.every((entry) => 'plant' in entry)
  if ((isWhole || !isStrict) && (await createAll(run, entries))) {
    for (const entry of entries) account(entry, 'plant' in entry ? 'created' : problemOf(entry))
    return true
  }
  if (isStrict) return importUntilRefused(run, entries)
  await importEach(run, entries)
  return true
}

/**
 * Imports all groups. Calls `onGroup` before each; the import ends if that resolves to false. Resolves to false if a
 * strict import ended at a refused row.
 */
export async function importAll(
  run: ImportRun,
  groups: AsyncGenerator<readonly Entry[]>,
  onGroup: () => Promise<boolean>,
): Promise<boolean> {
  // One group is read while the previous one is being committed.
  let previousGroup: Promise<boolean> = Promise.resolve(true)
  try {
    for await (const group of groups) {
      await previousGroup
      if (!(await onGroup())) return true
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

/**
 * The rehearsal of an import without a writable store: remembers the entries, and compares them with the stored plants,
 * which are read once. It needs memory for the whole file.
 */
export function createRehearsal({
  isStrict,
  replaces,
  keptFields,
  account,
}: Omit<ImportRun, 'store'>) {
  const entries: Entry[] = []

  /** The result of an entry. `found`: the plants that would be stored by then, which it changes. */
  function rehearse(entry: Entry, plantsById: Map<Int64, Plant>): Result {
    if (!('plant' in entry)) return problemOf(entry)
    const rowPlant = givenOf(entry, keptFields)
    const storedPlant = plantsById.get(rowPlant.id)
    if (!storedPlant || replaces) plantsById.set(rowPlant.id, plantOf(rowPlant, storedPlant))
    if (!storedPlant) return 'created'
    const result = compareTaken(rowPlant, storedPlant)
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
        const result = rehearse(entry, plantsById)
        account(entry, result)
        if (isStrict && typeof result !== 'string') return false
      }
      return true
    },
  }
}
