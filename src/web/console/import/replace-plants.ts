// Creates or replaces a group of plants, or as many of them as possible.

import {
  type BatchOutcome,
  type Client,
  ClientError,
  type NewPlant,
  type Result,
} from '../../../client/client.ts'
import type { Session } from '../session.ts'

type ReplaceOutcome<P extends NewPlant> = BatchOutcome<P> & { readonly replaced: number }

// Errors caused by single plants, or by the size of the request.
const OF_PLANTS: readonly number[] = [40002, 41301]

/** Sends plants in one request, in halves if that is refused. Throws a ClientError if it cannot continue. */
async function putAll<P extends NewPlant>(
  client: Client,
  plants: readonly P[],
  signal: AbortSignal,
): Promise<ReplaceOutcome<P>> {
  const result = await client.putPlants(plants, { signal })
  if (result.ok) {
    const { unchanged, ...counts } = result.value
    return { ...counts, known: unchanged, refused: [] }
  }
  if (!OF_PLANTS.includes(result.error)) throw new ClientError(result)
  const [plant] = plants
  if (plant && plants.length === 1) {
    return { created: 0, replaced: 0, known: 0, refused: [{ plant, failure: result }] }
  }
  const half = Math.ceil(plants.length / 2)
  return putEach(client, [plants.slice(0, half), plants.slice(half)], signal)
}

/** Sends groups of plants, one after the other, and sums their outcomes. */
async function putEach<P extends NewPlant>(
  client: Client,
  groups: Iterable<readonly P[]>,
  signal: AbortSignal,
): Promise<ReplaceOutcome<P>> {
  let sum: ReplaceOutcome<P> = { created: 0, replaced: 0, known: 0, refused: [] }
  for (const group of groups) {
    const { created, replaced, known, refused } = await putAll(client, group, signal)
    sum = {
      created: sum.created + created,
      replaced: sum.replaced + replaced,
      known: sum.known + known,
      refused: [...sum.refused, ...refused],
    }
  }
  return sum
}

/** Plants in groups, in none of which an id comes twice: a request with one is refused. */
function distinct<P extends NewPlant>(plants: readonly P[]): Iterable<readonly P[]> {
  const counts = new Map<bigint, number>()
  const groups = Map.groupBy(plants, ({ id }) => {
    const count = (counts.get(id) ?? 0) + 1
    counts.set(id, count)
    return count
  })
  return groups.values()
}

/** Creates or replaces plants, with retries: a plant that is sent twice counts as already stored. */
export const replacePlants = <P extends NewPlant>(
  session: Session,
  plants: readonly P[],
  signal: AbortSignal,
) =>
  session.persist(async (client): Promise<Result<ReplaceOutcome<P>>> => {
    try {
      return { ok: true, value: await putEach(client, distinct(plants), signal) }
    } catch (error) {
      if (error instanceof ClientError) return error.failure
      throw error
    }
  }, signal)
