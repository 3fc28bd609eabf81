// Does something with many plants: a batch at a time.

import type { BatchOutcome, Client, NewPlant } from '../../client/client.ts'

// Browsers open six connections to a host: more requests would wait in line.
const AT_ONCE = 6

/** Does something with each of many, a few at once; yields the outcomes of each few, in order. */
export async function* inBatches<T, R>(
  all: readonly T[],
  act: (one: T) => Promise<R>,
): AsyncGenerator<readonly R[], void, void> {
  for (let at = 0; at < all.length; at += AT_ONCE) {
    yield await Promise.all(all.slice(at, at + AT_ONCE).map(act))
  }
}

/** Creates plants, or as many of them as possible. Throws a ClientError if it cannot continue. */
export async function createBatch<P extends NewPlant>(
  client: Client,
  plants: readonly P[],
  signal: AbortSignal,
): Promise<BatchOutcome<P>> {
  let sum: BatchOutcome<P> = { created: 0, known: 0, refused: [] }
  for await (const { created, known, refused } of client.createAll(plants, { signal })) {
    sum = {
      created: sum.created + created,
      known: sum.known + known,
      refused: [...sum.refused, ...refused],
    }
  }
  return sum
}

/** The error of a plant that was sent alone in a batch. */
export const explainRefusal = ({ id }: NewPlant, message: string): string => {
  const text = message.replace('nothing was created: ', '').replace(/^plants\[0\](?:, |\.)/, '')
  return text.includes(String(id)) ? text : `id ${id}: ${text}`
}
