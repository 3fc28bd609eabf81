// Creates or replaces a group of plants, or as many of them as possible.

import {
  type BatchOutcome,
  type Client,
  ClientError,
  ERRORS,
  type Failure,
  type NewPlant,
  type PlantUpdate,
} from '../../../client/client.ts'
import type { Plant } from '../../../plant/plant.ts'
import { persistRequests } from '../create-plants.ts'
import type { Session } from '../session.ts'
import { TEXTS } from '../texts.ts'
import { textsOf } from '../undo/step.ts'
import type { ImportInput } from './detect-file.ts'

type ReplaceOutcome<P extends NewPlant> = BatchOutcome<P> & { readonly replaced: number }

// Errors caused by single plants, or by the size of the request.
const PLANT_ERRORS: readonly number[] = [ERRORS.invalid, ERRORS['too large']]

/** A plant of a file, and the replacement to send. */
export type Replacement = NewPlant & { readonly update: PlantUpdate }

const refusalOf = (message: string): Failure => ({ ok: false, error: 0, status: 0, message })
const CHANGED_REFUSAL = refusalOf('someone has changed this plant since it was compared')
const GONE_REFUSAL = refusalOf('someone has deleted this plant since it was compared')

/** Sends plants in one request, or in halves if it is refused. Throws a ClientError if it cannot continue. */
async function patchAll<P extends Replacement>(
  client: Client,
  plants: readonly P[],
  signal: AbortSignal,
): Promise<ReplaceOutcome<P>> {
  const updates = plants.map(({ update }) => update)
  const result = await client.patchPlants(updates, { signal })
  if (result.ok) {
    const { created, patched, unchanged, changed, missing } = result.value
    const failures = new Map([
      ...changed.map(({ id }) => [id, CHANGED_REFUSAL] as const),
      ...missing.map(({ id }) => [id, GONE_REFUSAL] as const),
    ])
    const refused = plants.flatMap((plant) => {
      const failure = failures.get(plant.id)
      return failure ? [{ plant, failure }] : []
    })
    return { created, replaced: patched, known: unchanged, refused }
  }
  if (!PLANT_ERRORS.includes(result.error)) throw new ClientError(result)
  const [plant] = plants
  if (plant && plants.length === 1) {
    return { created: 0, replaced: 0, known: 0, refused: [{ plant, failure: result }] }
  }
  const half = Math.ceil(plants.length / 2)
  return patchEach(client, [plants.slice(0, half), plants.slice(half)], signal)
}

/** Sends groups of plants, one after the other, and sums their outcomes. */
async function patchEach<P extends Replacement>(
  client: Client,
  groups: Iterable<readonly P[]>,
  signal: AbortSignal,
): Promise<ReplaceOutcome<P>> {
  let sum: ReplaceOutcome<P> = { created: 0, replaced: 0, known: 0, refused: [] }
  for (const group of groups) {
    const { created, replaced, known, refused } = await patchAll(client, group, signal)
    sum = {
      created: sum.created + created,
      replaced: sum.replaced + replaced,
      known: sum.known + known,
      refused: [...sum.refused, ...refused],
    }
  }
  return sum
}

/** Splits plants into groups with distinct ids, as a request requires. */
function groupDistinct<P extends NewPlant>(plants: readonly P[]): Iterable<readonly P[]> {
  const counts = new Map<bigint, number>()
  const groups = Map.groupBy(plants, ({ id }) => {
    const count = (counts.get(id) ?? 0) + 1
    counts.set(id, count)
    return count
  })
  return groups.values()
}

/** Creates or replaces plants, with retries: a plant that is sent twice counts as already stored. */
export const replacePlants = <P extends Replacement>(
  session: Session,
  plants: readonly P[],
  signal: AbortSignal,
) => persistRequests(session, (client) => patchEach(client, groupDistinct(plants), signal), signal)

type ReplacerInput = Pick<ImportInput, 'columns' | 'comparison'>

/**
 * Returns a function that turns a plant of a file into a replacement of the texts that have a column. A compared plant is
 * replaced only if it is still stored as it was, except for an id that is repeated in the file.
 */
export function createReplacer({ columns, comparison }: ReplacerInput) {
  const seenIds = new Set<bigint>()
  return <P extends Plant>(plant: P): P & Replacement => {
    // A JSON object may have a key that earlier ones lack.
    const texts = TEXTS.filter(
      (text) => text === 'name' || columns[text] !== null || plant[text] !== undefined,
    )
    const before = seenIds.has(plant.id) ? undefined : comparison?.storedOf(plant.id)
    seenIds.add(plant.id)
    const was = before ? { was: textsOf(before, texts) } : {}
    return { ...plant, update: { id: plant.id, ...textsOf(plant, texts), ...was } }
  }
}
