// Creates or replaces a group of plants, or as many of them as possible.

import {
  type Client,
  ClientError,
  type Failure,
  type NewPlant,
  type Patched,
  type PlantUpdate,
} from '../../../client/client.ts'
import type { RowUpdate } from '../../../formats/row-update.ts'
import { persistRequests, type SendOutcome } from '../create-plants.ts'
import { isOfPlants, sendGroups } from '../send-groups.ts'
import type { Session } from '../session.ts'

/** The plant of a row, and the update that replaces a stored one. */
export type SentRow = NewPlant & { readonly update: RowUpdate & PlantUpdate }

const refusalOf = (message: string): Failure => ({ ok: false, error: 0, status: 0, message })
const CHANGED_REFUSAL = refusalOf('someone has changed this plant since it was compared')
const GONE_REFUSAL = refusalOf('someone has deleted this plant since it was compared')

/** The counts of a request, and the plants that someone has changed or deleted since they were compared. */
function outcomeOf<P extends SentRow>(plants: readonly P[], patched: Patched) {
  const failures = new Map([
    ...patched.changed.map(({ id }) => [id, CHANGED_REFUSAL] as const),
    ...patched.missing.map(({ id }) => [id, GONE_REFUSAL] as const),
  ])
  const refused = plants.flatMap((plant) => {
    const failure = failures.get(plant.id)
    return failure ? [{ plant, failure }] : []
  })
  return { created: patched.created, replaced: patched.patched, known: patched.unchanged, refused }
}

/** Yields the outcome of each request. Throws a ClientError if it cannot continue. */
async function* patchEach<P extends SentRow>(
  client: Client,
  plants: readonly P[],
  signal: AbortSignal,
): AsyncGenerator<SendOutcome<P>, void, void> {
  const send = (group: readonly P[]) =>
    client.patchPlants(
      group.map(({ update }) => update),
      { signal },
    )
  for (const others of groupDistinct(plants)) {
    for await (const { group, result } of sendGroups(others, (plant) => [plant], send)) {
      if (result.ok) yield outcomeOf(group, result.value)
      else if (!isOfPlants(result)) throw new ClientError(result)
      else {
        const refused = group.map((plant) => ({ plant, failure: result }))
        yield { created: 0, replaced: 0, known: 0, refused }
      }
    }
  }
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
export const replacePlants = <P extends SentRow>(
  session: Session,
  plants: readonly P[],
  signal: AbortSignal,
) => persistRequests(session, (client) => patchEach(client, plants, signal), signal)
