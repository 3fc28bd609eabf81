// Imports plants into a store, in groups that share a commit, and counts the results.

import type { PlantParts } from '../../engine/engine'
import { RequestError } from '../../errors'
import { differingTexts, type GivenPlant, givenOf, plantOf } from '../../formats/given'
import type { Entry } from '../../formats/row'
import { type Int64, listWords, type OptionalText, type Plant } from '../../plant/plant'
import type { Store } from '../../store'

// Recorded in the change log.
const origin = { token: null, address: null, request: 'import' }

export type Result = 'created' | 'skipped' | 'replaced' | { readonly problem: string }

/** One import. */
export type Run = {
  readonly store: Pick<
    Store,
    'createPlant' | 'createPlants' | 'putPlants' | 'patchPlants' | 'readPlant'
  >
  readonly isStrict: boolean
  readonly replaces: boolean
  /** The texts for which the file has no column. */
  readonly kept: readonly OptionalText[]
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
function compareTaken(given: GivenPlant, stored: Plant | null): Result {
  const others = stored
    ? differingTexts(given, stored).map((name) =>
        stored[name] === undefined ? `no ${name}` : `another ${name}`,
      )
    : ['other fields']
  if (others.length === 0) return 'skipped'
  const problem = `plant ${given.id} is stored with ${listWords(others)}; use --replace to update it`
  return { problem }
}

async function importEntry({ store, kept }: Run, entry: Entry): Promise<Result> {
  if (!('plant' in entry)) return problemOf(entry)
  const { plant } = entry
  const taken = await refusalOf(store.createPlant(plant, { origin }))
  if (!taken) return 'created'
  if (taken.error === 'stored already') return 'skipped'
  return compareTaken(givenOf(entry, kept), await store.readPlant(plant.id))
}

/** Creates the plants of a group as one change; false, and none is created, if one of their ids is taken. */
const createAll = async (run: Run, entries: readonly Entry[]): Promise<boolean> =>
  (await refusalOf(run.store.createPlants(plantsOf(entries), { origin }))) === null

async function importEach(run: Run, entries: readonly Entry[]): Promise<void> {
  const results = await Promise.allSettled(entries.map((entry) => importEntry(run, entry)))
  for (const [index, entry] of entries.entries()) {
    const result = results[index]
    if (result?.status === 'fulfilled') run.account(entry, result.value)
  }
  const failed = results.find((result) => result.status === 'rejected')
  if (failed) throw failed.reason
}

/** Creates or replaces plants as one change; a text without a column stays as the commit finds it. */
async function putAll({ store, kept }: Run, entries: readonly Entry[]) {
  if (kept.length === 0) return store.putPlants(plantsOf(entries), { origin })
  const given = entries.flatMap((entry) => ('plant' in entry ? [givenOf(entry, kept)] : []))
  const { created, patched } = await store.patchPlants(given, { origin })
  return { created, replaced: patched }
}

/** Creates or replaces the plants of a group as one change. False: a strict import ends here. */
async function putGroup(run: Run, entries: readonly Entry[]): Promise<boolean> {
  const refused = run.isStrict ? entries.findIndex((entry) => !('plant' in entry)) : -1
  const read = refused === -1 ? entries : entries.slice(0, refused + 1)
  const counts = await putAll(run, read)
  // The store says how many plants ended so, and the account needs no more.
  const results: Result[] = [
    ...Array<Result>(counts.created).fill('created'),
    ...Array<Result>(counts.replaced).fill('replaced'),
  ]
  for (const entry of read) {
    run.account(entry, 'plant' in entry ? (results.shift() ?? 'skipped') : problemOf(entry))
  }
  return refused === -1
}

async function importUntilRefused(run: Run, entries: readonly Entry[]): Promise<boolean> {
  for (const entry of entries) {
    const result = await importEntry(run, entry)
    run.account(entry, result)
    if (typeof result !== 'string') return false
  }
  return true
}

/** Imports a group as one change, which costs less; one by one if that is refused. False: a strict import ends here. */
async function importGroup(run: Run, entries: readonly Entry[]): Promise<boolean> {
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
  run: Run,
  groups: AsyncGenerator<readonly Entry[]>,
  onGroup: () => Promise<boolean>,
): Promise<boolean> {
  // One group is read while the previous one is being committed.
  let before: Promise<boolean> = Promise.resolve(true)
  try {
    for await (const group of groups) {
      await before
      if (!(await onGroup())) return true
      before = importGroup(run, group)
      // Awaited with the next group, which may take long to arrive; a strict import may end with this one.
      before.catch(() => {})
      if (run.isStrict && !(await before)) return false
    }
    return await before
  } finally {
    await before.catch(() => {})
  }
}

/**
 * The rehearsal of an import without a writable store: remembers the entries, and compares them with the stored plants,
 * which are read once. It needs memory for the whole file.
 */
export function createRehearsal({ isStrict, replaces, kept, account }: Omit<Run, 'store'>) {
  const entries: Entry[] = []

  /** The result of an entry. `found`: the plants that would be stored by then, which it changes. */
  function rehearse(entry: Entry, found: Map<Int64, Plant>): Result {
    if (!('plant' in entry)) return problemOf(entry)
    const given = givenOf(entry, kept)
    const before = found.get(given.id)
    if (!before || replaces) found.set(given.id, plantOf(given, before))
    if (!before) return 'created'
    const result = compareTaken(given, before)
    return replaces && result !== 'skipped' ? 'replaced' : result
  }

  return {
    add: (group: readonly Entry[]) => void entries.push(...group),
    /** Resolves to false if a strict import would end at a refused row. */
    async end(stored: PlantParts): Promise<boolean> {
      const wanted = new Set(entries.flatMap((entry) => ('plant' in entry ? [entry.plant.id] : [])))
      const found = new Map<Int64, Plant>()
      for await (const plants of stored) {
        for (const plant of plants) if (wanted.has(plant.id)) found.set(plant.id, plant)
      }
      for (const entry of entries) {
        const result = rehearse(entry, found)
        account(entry, result)
        if (isStrict && typeof result !== 'string') return false
      }
      return true
    },
  }
}
