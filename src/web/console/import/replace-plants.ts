// Creates or replaces a group of plants, or as many of them as possible.

import {
  type BatchOutcome,
  type Client,
  ClientError,
  type NewPlant,
  type Result,
} from '../../../client/client.ts'
import type { Session } from '../session.ts'

export type ReplaceOutcome<P extends NewPlant> = BatchOutcome<P> & { readonly replaced: number }

// Errors caused by single plants, by an id that comes twice, or by the size of the request.
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
  const first = await putAll(client, plants.slice(0, half), signal)
  const second = await putAll(client, plants.slice(half), signal)
  return {
    created: first.created + second.created,
    replaced: first.replaced + second.replaced,
    known: first.known + second.known,
    refused: [...first.refused, ...second.refused],
  }
}

/** Creates or replaces plants, with retries: a plant that is sent twice counts as already stored. */
export const replacePlants = <P extends NewPlant>(
  session: Session,
  plants: readonly P[],
  signal: AbortSignal,
) =>
  session.persist(async (client): Promise<Result<ReplaceOutcome<P>>> => {
    try {
      return { ok: true, value: await putAll(client, plants, signal) }
    } catch (error) {
      if (error instanceof ClientError) return error.failure
      throw error
    }
  }, signal)
