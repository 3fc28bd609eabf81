// Creates any number of plants in batches. After a refusal, the store says which plants of the batch it has.

import { ERRORS, OPTIONAL_TEXTS } from './contract.ts'
import { changeText, plantText } from './json.ts'
import { ClientError, type Failure, type Result } from './result.ts'
import type { Created, NewPlant, Patched } from './types.ts'

const MAX_PLANTS = 1000
// At most three times as many bytes in UTF-8, which fits in a body of the default limit.
const MAX_CHARACTERS = 300_000
// Errors caused by single plants, or by their number: smaller batches find the plants at fault.
const OF_PLANTS: readonly number[] = [ERRORS.invalid, ERRORS['too large']]
const OF_IDS: readonly number[] = [ERRORS['stored already'], ERRORS.taken]

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

/** The requests that a run sends, of plants as JSON texts. */
type Requests = {
  readonly createPlants: (texts: readonly string[]) => Promise<Result<Created>>
  readonly patchPlants: (texts: readonly string[]) => Promise<Result<Patched>>
}

type BatchItem<P extends NewPlant = NewPlant> = {
  readonly plant: P
  readonly id: bigint
  readonly text: string
  failure?: Failure
}

type BatchRun = Requests & { created: number; known: number }

const refuse = (error: number, status: number, message: string): Failure => ({
  ok: false,
  error,
  status,
  message,
})

// Untyped programs may pass anything.
function itemOf<P extends NewPlant>(plant: P): BatchItem<P> {
  try {
    return { plant, id: plant.id, text: plantText(plant) }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { plant, id: 0n, text: '', failure: refuse(ERRORS.invalid, 400, message) }
  }
}

async function* batchesOf<P extends NewPlant>(plants: Plants<P>) {
  let batch: BatchItem<P>[] = []
  let characters = 0
  for await (const plant of plants) {
    const item = itemOf(plant)
    characters += item.text.length + 1
    if (batch.length === MAX_PLANTS || (batch.length > 0 && characters > MAX_CHARACTERS)) {
      yield batch
      batch = []
      characters = item.text.length + 1
    }
    batch.push(item)
  }
  if (batch.length > 0) yield batch
}

/** Creates plants whose ids differ. */
async function create(run: BatchRun, items: readonly BatchItem[]): Promise<void> {
  const [item] = items
  if (item === undefined) return
  const result = await run.createPlants(items.map(({ text }) => text))
  if (result.ok) run.created += items.length
  else if (OF_IDS.includes(result.error)) await create(run, await findMissing(run, items))
  else if (!OF_PLANTS.includes(result.error)) throw new ClientError(result)
  else if (items.length === 1) item.failure = result
  else {
    const half = Math.ceil(items.length / 2)
    await create(run, items.slice(0, half))
    await create(run, items.slice(half))
  }
}

/** A change of nothing, for a plant that is stored with exactly these fields. */
function comparisonText({ plant }: BatchItem): string {
  const texts = ['name', ...OPTIONAL_TEXTS] as const
  const was = Object.fromEntries(texts.map((name) => [name, plant[name]]))
  return changeText({ id: plant.id, was })
}

/** Counts or refuses the plants whose ids are stored. Resolves to the others. */
async function findMissing(run: BatchRun, items: readonly BatchItem[]): Promise<BatchItem[]> {
  const result = await run.patchPlants(items.map(comparisonText))
  if (!result.ok) throw new ClientError(result)
  const conflicts = new Set(result.value.conflicts.map(({ id }) => id))
  const missing = new Set(result.value.missing.map(({ id }) => id))
  for (const item of items) {
    const { id } = item
    if (conflicts.has(id))
      item.failure = refuse(ERRORS.taken, 409, `id ${id} belongs to a different plant`)
    else if (!missing.has(id)) run.known++
  }
  return items.filter(({ id }) => missing.has(id))
}

/** Creates plants. A request must not repeat an id: the first plant with an id decides the outcome of the others. */
async function createUnique(run: BatchRun, items: readonly BatchItem[]): Promise<void> {
  const firsts = new Map<bigint, BatchItem>()
  for (const item of items) if (!firsts.has(item.id)) firsts.set(item.id, item)
  await create(run, [...firsts.values()])
  const repeats = items.filter((item) => firsts.get(item.id) !== item)
  if (repeats.length > 0) await createUnique(run, repeats)
}

/** Yields the outcome of each batch, in order. Throws a {@link ClientError} on failure; run it again to complete. */
export async function* createInBatches<P extends NewPlant>(
  requests: Requests,
  plants: Plants<P>,
): AsyncGenerator<BatchOutcome<P>, void, void> {
  for await (const batch of batchesOf(plants)) {
    const run: BatchRun = { ...requests, created: 0, known: 0 }
    await createUnique(
      run,
      batch.filter(({ failure }) => !failure),
    )
    const refused = batch.flatMap(({ plant, failure }) => (failure ? [{ plant, failure }] : []))
    yield { created: run.created, known: run.known, refused }
  }
}
