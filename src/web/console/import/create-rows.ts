// Creates the plants of rows. A stored plant counts as known if the fields with a column are the same.

import { ERRORS, type Result } from '../../../client/client.ts'
import { differingTexts } from '../../../formats/row-update.ts'
import { createPlants, type SendOutcome } from '../create-plants.ts'
import type { Session } from '../session.ts'
import { TEXTS } from '../texts.ts'
import type { SentRow } from './replace-plants.ts'
import { createStoredPlants } from './stored-plants.ts'

/** Like `createPlants`. Throws a ClientError if the stored plants cannot be read. */
export async function createRows<P extends SentRow>(
  session: Session,
  rows: readonly P[],
  signal: AbortSignal,
): Promise<Result<SendOutcome<P>>> {
  const result = await createPlants(session, rows, signal)
  if (!result.ok) return result
  const { refused, known, ...others } = result.value
  const takenRows = refused.filter(
    ({ plant: { update }, failure }) =>
      failure.error === ERRORS.taken && TEXTS.some((text) => update[text] === undefined),
  )
  const storedPlants = createStoredPlants(session)
  if (takenRows.length === 0 || !(await storedPlants.read(takenRows.map(({ plant }) => plant.id))))
    return result
  const refusedRows = refused.filter(({ plant }) => {
    const before = storedPlants.get(plant.id)
    return !before || differingTexts(plant.update, before).length > 0
  })
  const value = {
    ...others,
    known: known + refused.length - refusedRows.length,
    refused: refusedRows,
  }
  return { ok: true, value }
}
