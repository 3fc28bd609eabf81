// Creates any number of plants in batches. After a refusal, lists show which plants of the batch are stored.

import { ERRORS } from './contract.ts'
import { plantText } from './json.ts'
import { ClientError, type Failure, type Result } from './result.ts'
import type { Created, ListQuery, NewPlant, PlantPage } from './types.ts'

const MAX_PLANTS = 1000
// At most three times as many bytes in UTF-8, which fits in a body of the default limit.
const MAX_CHARACTERS = 300_000
const PARTS = 10
const INT64_MIN = -(2n ** 63n)
// Errors caused by single plants, or by their number: smaller batches find the plants at fault.
const OF_PLANTS: readonly number[] = [
  ERRORS.invalid,
  ERRORS['stored already'],
  ERRORS.taken,
  ERRORS['too large'],
]

/** A plant that was not created, and the reason. */
export type Refusal<P extends NewPlant = NewPlant> = {
  /** The object passed in. */
  readonly plant: P
  readonly failure: Failure
}

/** Plants in order, for example from a file while it is read. */
export type Plants<P extends NewPlant = NewPlant> = Iterable<P> | AsyncIterable<P>

/** The outcome of creating some plants. */
export type BatchOutcome<P extends NewPlant = NewPlant> = {
  readonly created: number
  /** Plants already stored with the same fields: 40901. */
  readonly known: number
  readonly refused: readonly Refusal<P>[]
}

/** The requests that a run sends. */
type Requests = {
  /** Creates plants from JSON text. */
  readonly createPlants: (texts: readonly string[]) => Promise<Result<Created>>
  readonly listPlants: (query: ListQuery) => Promise<Result<PlantPage>>
}

type Entry<P extends NewPlant = NewPlant> = {
  readonly plant: P
  readonly id: bigint
  readonly text: string
  failure?: Failure
}

type BatchRun = Requests & {
  created: number
  known: number
  /** True if any plant of the last look-up was stored. The next plants are then looked up before they are sent. */
  areStored: boolean
}

const refuse = (error: number, status: number, message: string): Failure => ({
  ok: false,
  error,
  status,
  message,
})

// Untyped programs may pass anything.
function entryOf<P extends NewPlant>(plant: P): Entry<P> {
  try {
    return { plant, id: plant.id, text: plantText(plant) }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { plant, id: 0n, text: '', failure: refuse(ERRORS.invalid, 400, message) }
  }
}

/** True if the plants fit into this many requests. */
const fit = (count: number, characters: number, requests: number): boolean =>
  count <= MAX_PLANTS * requests && characters <= MAX_CHARACTERS * requests

// Batches are larger during look-ups: the more plants, the more of them share a page, in any order.
async function* batchesOf<P extends NewPlant>(plants: Plants<P>, run: BatchRun) {
  let batch: Entry<P>[] = []
  let characters = 0
  for await (const plant of plants) {
    const entry = entryOf(plant)
    const more = entry.text.length + 1
    const requests = run.areStored ? PARTS : 1
    if (batch.length > 0 && !fit(batch.length + 1, characters + more, requests)) {
      yield batch
      batch = []
      characters = 0
    }
    batch.push(entry)
    characters += more
  }
  if (batch.length > 0) yield batch
}

function partsOf(entries: readonly Entry[]): Entry[][] {
  const size = Math.ceil(entries.length / PARTS)
  const parts: Entry[][] = []
  for (let start = 0; start < entries.length; start += size)
    parts.push(entries.slice(start, start + size))
  return parts
}

/** Creates plants, after a look-up if earlier ones were stored. */
const settle = (run: BatchRun, entries: readonly Entry[]): Promise<void> =>
  run.areStored ? createMissing(run, entries) : create(run, entries)

async function create(run: BatchRun, entries: readonly Entry[]): Promise<void> {
  const [entry, ...others] = entries
  if (entry === undefined) return
  const characters = entries.reduce((sum, { text }) => sum + text.length + 1, 0)
  if (others.length > 0 && !fit(entries.length, characters, 1)) {
    for (const part of partsOf(entries)) await create(run, part)
    return
  }
  const result = await run.createPlants(entries.map(({ text }) => text))
  if (result.ok) run.created += entries.length
  else if (!OF_PLANTS.includes(result.error)) throw new ClientError(result)
  else if (others.length === 0 && result.error === ERRORS['stored already']) run.known++
  else if (others.length === 0) entry.failure = result
  else if (result.status === 409) await createMissing(run, entries, true)
  else for (const part of partsOf(entries)) await settle(run, part)
}

/** Looks up which plants are stored, and creates the others. */
async function createMissing(
  run: BatchRun,
  entries: readonly Entry[],
  isRefused = false,
): Promise<void> {
  const { missing, unread } = await lookUp(run, entries)
  run.areStored = missing.length + unread.length < entries.length
  if (!run.areStored && !isRefused) return create(run, entries)
  // If all are missing, the stored plant that caused the refusal is gone, or the cause is another one.
  const pieces = missing.length < entries.length ? [missing] : partsOf(missing)
  for (const piece of pieces) await create(run, piece)
  for (const part of partsOf(unread)) await settle(run, part)
}

const isInt64 = (id: bigint): boolean => BigInt.asIntN(64, id) === id

/** Separates stored plants from missing ones. Reads page after page while pages reach far enough among other plants. */
async function lookUp(run: BatchRun, entries: readonly Entry[]) {
  // The list cannot start at invalid ids, and none of them is stored.
  const missing = entries.filter(({ id }) => !isInt64(id))
  let unread = entries
    .filter(({ id }) => isInt64(id))
    .sort((a, b) => (a.id < b.id ? -1 : Number(a.id > b.id)))
  const limit = Math.min(MAX_PLANTS, PARTS * entries.length)
  for (;;) {
    const firstId = unread[0]?.id
    if (firstId === undefined) return { missing, unread }
    const after = firstId > INT64_MIN ? firstId - 1n : undefined
    const page = await run.listPlants({ after, limit })
    if (!page.ok) throw new ClientError(page)
    const { plants, next } = page.value
    const storedTexts = new Map(plants.map((plant) => [plant.id, plantText(plant)]))
    const end = next === null ? undefined : (plants.at(-1)?.id ?? INT64_MIN)
    const pageEntries = end === undefined ? unread : unread.filter(({ id }) => id <= end)
    for (const entry of pageEntries) {
      const text = storedTexts.get(entry.id)
      if (text === undefined) missing.push(entry)
      else if (text === entry.text) run.known++
      else entry.failure = refuse(ERRORS.taken, 409, `id ${entry.id} belongs to a different plant`)
    }
    unread = unread.slice(pageEntries.length)
    if (pageEntries.length < Math.min(entries.length, MAX_PLANTS) / PARTS)
      return { missing, unread }
  }
}

/** Yields the outcome of each batch, in order. Throws a {@link ClientError} on failure; run it again to complete. */
export async function* createInBatches<P extends NewPlant>(
  requests: Requests,
  plants: Plants<P>,
): AsyncGenerator<BatchOutcome<P>, void, void> {
  const run: BatchRun = { ...requests, created: 0, known: 0, areStored: false }
  for await (const batch of batchesOf(plants, run)) {
    run.created = 0
    run.known = 0
    // A request must not repeat an id. The first plant with an id decides the outcome of the others.
    const ids = new Set<bigint>()
    const firsts: Entry[] = []
    const repeats: Entry[] = []
    for (const entry of batch) {
      if (entry.failure) continue
      const others = ids.has(entry.id) ? repeats : firsts
      others.push(entry)
      ids.add(entry.id)
    }
    await settle(run, firsts)
    if (repeats.length > 0) await createMissing(run, repeats)
    const refused = batch.flatMap(({ plant, failure }) => (failure ? [{ plant, failure }] : []))
    yield { created: run.created, known: run.known, refused }
  }
}
