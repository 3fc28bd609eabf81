// Creates plants in one request; only if that is refused, in smaller ones.

import { type BatchOutcome, type Client, ClientError, type NewPlant } from '../../client/client.ts'

// A file is often imported twice. This many pages are read to find which of its plants are stored.
const PAGES = 2
const PAGE_PLANTS = 1000

const isSame = (a: NewPlant, b: NewPlant): boolean => a.name === b.name && a.tag === b.tag

/** The plants found stored with the same fields, in the first pages from the lowest id on. */
async function findStored<P extends NewPlant>(
  client: Client,
  plants: readonly P[],
  signal: AbortSignal,
): Promise<Set<P>> {
  const ids = plants.map(({ id }) => id).toSorted((a, b) => (a < b ? -1 : 1))
  const [least = 0n, most = least] = [ids.at(0), ids.at(-1)]
  const stored = new Map<bigint, NewPlant>()
  let after: string | undefined
  for (let page = 0; page < PAGES; page++) {
    // The lowest int64 has no id before it.
    const start = least > -(2n ** 63n) ? { after: least - 1n } : {}
    const query = { limit: PAGE_PLANTS, ...(after === undefined ? start : { after }) }
    const result = await client.listPlants(query, { signal })
    if (!result.ok) throw new ClientError(result)
    for (const plant of result.value.plants) stored.set(plant.id, plant)
    after = result.value.next ?? undefined
    const last = result.value.plants.at(-1)?.id
    if (after === undefined || last === undefined || last >= most) break
  }
  return new Set(
    plants.filter((plant) => {
      const found = stored.get(plant.id)
      return found !== undefined && isSame(found, plant)
    }),
  )
}

/** Creates up to 1000 plants, or as many of them as possible. Throws a {@link ClientError} if it cannot continue. */
export async function createBatch<P extends NewPlant>(
  client: Client,
  plants: readonly P[],
  signal: AbortSignal,
): Promise<BatchOutcome<P>> {
  const together = await client.createPlants(plants, { signal })
  if (together.ok) return { created: together.value.created, known: 0, refused: [] }
  const isOfPlants = together.status === 409
  const stored = isOfPlants ? await findStored(client, plants, signal) : new Set<P>()
  let created = 0
  let known = stored.size
  const refused: BatchOutcome<P>['refused'][number][] = []
  const others = plants.filter((plant) => !stored.has(plant))
  for await (const outcome of client.createAll(others, { signal })) {
    created += outcome.created
    known += outcome.known
    refused.push(...outcome.refused)
  }
  return { created, known, refused }
}

/** The error of a plant that was sent alone in a batch. */
export const explainRefusal = ({ id }: NewPlant, message: string): string => {
  const text = message.replace('nothing was created: ', '').replace(/^plants\[0\](?:, |\.)/, '')
  return text.includes(String(id)) ? text : `id ${id}: ${text}`
}
