// Imports plants into a store, in groups that share a commit, and counts the results.

import { ApiError, catalogue } from '../../errors'
import type { Entry } from '../../formats/row'
import { hasSameTexts, type Int64, type Plant } from '../../plant/plant'
import type { Store } from '../../store'

// Recorded in the change log.
const origin = { token: null, address: null, request: 'import' }

export type Result = 'created' | 'skipped' | 'replaced' | { readonly problem: string }

/** One import. */
export type Run = {
  readonly store: Pick<Store, 'createPlant' | 'createPlants' | 'replacePlant'>
  readonly isStrict: boolean
  readonly replaces: boolean
  readonly account: (entry: Entry, result: Result) => void
}

// The refusals of a plant whose id is taken.
const TAKEN = [40901, 40902]

/** Makes a change. Resolves to its refusal with one of these numbers, or to null on success. */
async function refusalOf(
  change: Promise<void>,
  numbers: readonly number[],
): Promise<ApiError | null> {
  try {
    await change
    return null
  } catch (error) {
    if (error instanceof ApiError && numbers.includes(error.error)) return error
    throw error
  }
}

/** The problem of an entry without a plant; null if it has one. */
function problemOf(entry: Entry): { readonly problem: string } | null {
  if ('plant' in entry) return null
  return { problem: 'stop' in entry ? entry.stop : entry.problem }
}

export const explainTaken = (id: Int64, message: string): string => `id ${id}: ${message}`

async function importEntry(run: Run, entry: Entry): Promise<Result> {
  if (!('plant' in entry)) return problemOf(entry) ?? 'skipped'
  const { store, replaces } = run
  const { plant } = entry
  const taken = await refusalOf(store.createPlant(plant, { origin }), TAKEN)
  if (!taken) return 'created'
  if (taken.error === 40901) return 'skipped'
  if (!replaces) return { problem: explainTaken(plant.id, taken.message) }
  const gone = await refusalOf(store.replacePlant(plant, { origin }), [40402])
  // A client has deleted the plant in the meantime.
  return gone ? importEntry(run, entry) : 'replaced'
}

/** Creates the plants of a group as one change; false, and none is created, if one of their ids is taken. */
async function createAll(run: Run, entries: readonly Entry[]): Promise<boolean> {
  const plants = entries.flatMap((entry) => ('plant' in entry ? [entry.plant] : []))
  return (await refusalOf(run.store.createPlants(plants, { origin }), TAKEN)) === null
}

async function importEach(run: Run, entries: readonly Entry[]): Promise<void> {
  // Entries with the same id wait for one another, because a replacement takes two steps.
  const last = new Map<Int64, Promise<Result>>()
  const results = await Promise.allSettled(
    entries.map((entry) => {
      const make = () => importEntry(run, entry)
      if (!('plant' in entry)) return make()
      const { id } = entry.plant
      const result = last.get(id)?.then(make) ?? make()
      last.set(id, result)
      return result
    }),
  )
  for (const [index, entry] of entries.entries()) {
    const result = results[index]
    if (result?.status === 'fulfilled') run.account(entry, result.value)
  }
  const failed = results.find((result) => result.status === 'rejected')
  if (failed) throw failed.reason
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
  const { isStrict, account } = run
  const isWhole = entries.every((entry) => 'plant' in entry)
  if ((isWhole || !isStrict) && (await createAll(run, entries))) {
    for (const entry of entries) account(entry, problemOf(entry) ?? 'created')
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
export function createRehearsal(replaces: boolean, account: Run['account']) {
  const entries: Entry[] = []
  return {
    add: (group: readonly Entry[]) => void entries.push(...group),
    async end(stored: AsyncIterable<readonly Plant[]> | Iterable<readonly Plant[]>): Promise<void> {
      const wanted = new Set(entries.flatMap((entry) => ('plant' in entry ? [entry.plant.id] : [])))
      const found = new Map<Int64, Plant>()
      for await (const plants of stored) {
        for (const plant of plants) if (wanted.has(plant.id)) found.set(plant.id, plant)
      }
      for (const entry of entries) {
        if (!('plant' in entry)) {
          account(entry, problemOf(entry) ?? 'skipped')
          continue
        }
        const { plant } = entry
        const before = found.get(plant.id)
        if (!before || replaces) found.set(plant.id, plant)
        if (!before) account(entry, 'created')
        else if (hasSameTexts(before, plant)) account(entry, 'skipped')
        else if (replaces) account(entry, 'replaced')
        else account(entry, { problem: explainTaken(plant.id, catalogue[40902]) })
      }
    },
  }
}
