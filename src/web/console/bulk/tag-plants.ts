// Sets the tag of plants, one request each: a plant gets it if it is still as the table showed it.

import type { Failure, NewPlant } from '../../../client/client.ts'
import type { PlantList } from '../list/plant-list.ts'
import type { Session } from '../session.ts'
import { inBatches } from './batch.ts'
import { type BulkAction, type Checked, changePlant, putBack, type Skipped } from './bulk-action.ts'

type Tagging = {
  readonly action: BulkAction
  readonly plants: readonly NewPlant[]
  /** Those that were read already, by id. */
  readonly checked: ReadonlyMap<bigint, Checked>
}

/**
 * Sets the tag of plants; yields those of each few requests, null for each that has it. After a refusal that is not
 * about one plant, which would hit all others too, nothing more is sent.
 */
export async function* tagPlants(
  session: Session,
  list: PlantList,
  { action, plants, checked }: Tagging,
): AsyncGenerator<readonly (Skipped | null)[], void, void> {
  let refusal: Failure | null = null
  const onRefusal = (it: Failure): void => {
    refusal = it
  }
  const tag = (plant: NewPlant): Promise<Skipped | null> =>
    changePlant(session, list, plant, { action, checked: checked.get(plant.id), onRefusal })

  let done = 0
  for await (const part of inBatches(plants, tag)) {
    yield part
    done += part.length
    if (refusal) return yield putBack(list, plants.slice(done), refusal)
  }
}
