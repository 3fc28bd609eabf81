// Any number of plants, created in batches.

import { plantText } from './json.ts'
import { ClientError, type Failure, type Result } from './result.ts'
import type { Created, NewPlant } from './types.ts'

const MOST_PLANTS = 1000
// At most three times as many bytes in UTF-8, which fits in a body of the default limit.
const MOST_CHARACTERS = 300_000
const PARTS = 10
// Errors because of single plants, or of their number: smaller batches find out which plants.
const OF_PLANTS: readonly number[] = [40002, 40901, 40902, 41301]

/** A plant that was not created, and why. */
export type Refusal<P extends NewPlant = NewPlant> = {
  /** The object that was given. */
  readonly plant: P
  readonly failure: Failure
}

/** Plants in order, such as those of a file as it is read. */
export type Plants<P extends NewPlant = NewPlant> = Iterable<P> | AsyncIterable<P>

/** The outcome of creating some plants. */
export type BatchOutcome<P extends NewPlant = NewPlant> = {
  readonly created: number
  /** Plants that were stored before, with the same fields: 40901. */
  readonly known: number
  readonly refused: readonly Refusal<P>[]
}

type CreatePlants = (plants: readonly NewPlant[]) => Promise<Result<Created>>

async function* batchesOf<P extends NewPlant>(plants: Plants<P>) {
  let batch: P[] = []
  let characters = 0
  for await (const plant of plants) {
    const more = plantText(plant).length + 1
    if (batch.length === MOST_PLANTS || (batch.length > 0 && characters + more > MOST_CHARACTERS)) {
      yield batch
      batch = []
      characters = 0
    }
    batch.push(plant)
    characters += more
  }
  if (batch.length > 0) yield batch
}

async function createBatch<P extends NewPlant>(
  createPlants: CreatePlants,
  plants: readonly P[],
): Promise<BatchOutcome<P>> {
  const result = await createPlants(plants)
  if (result.ok) return { created: result.value.created, known: 0, refused: [] }
  if (!OF_PLANTS.includes(result.error)) throw new ClientError(result)
  const [plant, ...others] = plants
  if (plant === undefined) return { created: 0, known: 0, refused: [] }
  if (others.length === 0) {
    return result.error === 40901
      ? { created: 0, known: 1, refused: [] }
      : { created: 0, known: 0, refused: [{ plant, failure: result }] }
  }
  const size = Math.ceil(plants.length / PARTS)
  let sum: BatchOutcome<P> = { created: 0, known: 0, refused: [] }
  for (let start = 0; start < plants.length; start += size) {
    const part = await createBatch(createPlants, plants.slice(start, start + size))
    sum = {
      created: sum.created + part.created,
      known: sum.known + part.known,
      refused: [...sum.refused, ...part.refused],
    }
  }
  return sum
}

/** Yields the outcome of each batch, in order. Throws a {@link ClientError} if it cannot go on; run it again to complete. */
export async function* createInBatches<P extends NewPlant>(
  createPlants: CreatePlants,
  plants: Plants<P>,
): AsyncGenerator<BatchOutcome<P>, void, void> {
  for await (const batch of batchesOf(plants)) yield await createBatch(createPlants, batch)
}
