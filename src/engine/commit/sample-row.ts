// The row that a trial writes, in a transaction that is rolled back, to find out whether plants can be created.

import { randomBytes } from 'node:crypto'
import { type PlantRow, toRowId } from '../../plant/row'

// As base64, more pages than an ordinary create writes, those included that it splits.
const NAME_BYTES = 48 * 1024

/** A row with an id that no plant has, and a name that cannot be compressed. */
export function sampleRow(): PlantRow {
  const id = randomBytes(8).readBigInt64LE()
  return [toRowId(id), randomBytes(NAME_BYTES).toString('base64'), 'trial']
}
