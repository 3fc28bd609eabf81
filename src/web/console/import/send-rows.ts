// Sends the rows of a file: creates their plants, or also replaces stored ones. As many as possible are stored.

import {
  type BatchOutcome,
  ClientError,
  ERRORS,
  type Failure,
  type NewPlant,
  type PlantUpdate,
  type Refusal,
} from '../../../client/client.ts'
import { differingTexts, type RowUpdate } from '../../../formats/row-update.ts'
import { createPlants } from '../create-plants.ts'
import { isOfPlants, sendGroups } from '../send-groups.ts'
import type { Session } from '../session.ts'
import { TEXTS } from '../texts.ts'
import { createStoredPlants } from './stored-plants.ts'

/** The plant of a row, and the update that replaces a stored one. */
export type SentRow = NewPlant & { readonly update: RowUpdate & PlantUpdate }

/** The outcome of several requests. */
type SendOutcome<P extends NewPlant> = BatchOutcome<P> & { readonly replaced: number }

const refusalOf = (message: string): Failure => ({ ok: false, error: 0, status: 0, message })
const CHANGED_REFUSAL = refusalOf('someone has changed this plant since it was compared')
const GONE_REFUSAL = refusalOf('someone has deleted this plant since it was compared')

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

/** Creates or replaces plants. Throws a ClientError if it cannot continue. */
async function replacePlants<P extends SentRow>(
  session: Session,
  plants: readonly P[],
  signal: AbortSignal,
): Promise<SendOutcome<P>> {
  const counts = { created: 0, replaced: 0, known: 0 }
  const refused: Refusal<P>[] = []
  const send = (group: readonly P[]) => {
    const updates = group.map(({ update }) => update)
    return session.persist((client) => client.patchPlants(updates, { signal }), signal)
  }
  for (const distinctPlants of groupDistinct(plants)) {
    for await (const { group, result } of sendGroups(distinctPlants, (plant) => [plant], send)) {
      if (!result.ok) {
        if (!isOfPlants(result)) throw new ClientError(result)
        refused.push(...group.map((plant) => ({ plant, failure: result })))
        continue
      }
      const { created, patched, unchanged, conflicts, missing } = result.value
      counts.created += created
      counts.replaced += patched
      counts.known += unchanged
      const failures = new Map([
        ...conflicts.map(({ id }) => [id, CHANGED_REFUSAL] as const),
        ...missing.map(({ id }) => [id, GONE_REFUSAL] as const),
      ])
      for (const plant of group) {
        const failure = failures.get(plant.id)
        if (failure) refused.push({ plant, failure })
      }
    }
  }
  return { ...counts, refused }
}

/** Creates plants. Throws a ClientError if it cannot continue. */
async function createOnly<P extends SentRow>(
  session: Session,
  plants: readonly P[],
  signal: AbortSignal,
): Promise<SendOutcome<P>> {
  const result = await createPlants(session, plants, signal)
  if (!result.ok) throw new ClientError(result)
  return { ...result.value, replaced: 0 }
}

/** True if the plant may be stored as its row asks: by a try whose answer was lost, or with texts that have no column. */
const isDoubtful = <P extends SentRow>({ plant: { update }, failure }: Refusal<P>): boolean =>
  failure === CHANGED_REFUSAL ||
  (failure.error === ERRORS.taken && TEXTS.some((text) => update[text] === undefined))

/** Sends rows, with retries. A plant that is stored as its row asks counts as known. Throws a ClientError. */
export async function sendRows<P extends SentRow>(
  session: Session,
  rows: readonly P[],
  replaces: boolean,
  signal: AbortSignal,
): Promise<SendOutcome<P>> {
  const outcome = await (replaces ? replacePlants : createOnly)(session, rows, signal)
  const ids = outcome.refused.filter(isDoubtful).map(({ plant }) => plant.id)
  const storedPlants = createStoredPlants(session)
  if (ids.length === 0 || !(await storedPlants.read(ids))) return outcome
  const refused = outcome.refused.filter(({ plant }) => {
    const storedPlant = storedPlants.get(plant.id)
    return !storedPlant || differingTexts(plant.update, storedPlant).length > 0
  })
  const known = outcome.known + outcome.refused.length - refused.length
  return { ...outcome, known, refused }
}
