// Creates the plants of rows. A stored plant counts as known if the fields with a column are the same.

import { ERRORS, type NewPlant } from '../../../client/client.ts'
import type { Columns } from '../../../formats/columns.ts'
import { OPTIONAL_TEXTS } from '../../../plant/plant.ts'
import { createPlants } from '../create-plants.ts'
import type { Session } from '../session.ts'
import { hasSameTexts } from '../texts.ts'
import { withUnmappedTexts } from './compare.ts'
import { createStoredPlants } from './stored-plants.ts'

/** Like `createPlants`. Throws a ClientError if the stored plants cannot be read. */
export async function createRows<P extends NewPlant>(
  session: Session,
  plants: readonly P[],
  columns: Columns,
  signal: AbortSignal,
): ReturnType<typeof createPlants<P>> {
  const result = await createPlants(session, plants, signal)
  if (!result.ok || OPTIONAL_TEXTS.every((text) => columns[text] !== null)) return result
  const { refused, known, ...others } = result.value
  const takenRows = refused.filter(({ failure }) => failure.error === ERRORS.taken)
  const storedPlants = createStoredPlants(session)
  if (takenRows.length === 0 || !(await storedPlants.read(takenRows.map(({ plant }) => plant.id))))
    return result
  const refusedRows = refused.filter(({ plant }) => {
    const before = storedPlants.get(plant.id)
    return !before || !hasSameTexts(before, withUnmappedTexts(plant, before, columns))
  })
  const value = {
    ...others,
    known: known + refused.length - refusedRows.length,
    refused: refusedRows,
  }
  return { ok: true, value }
}
