// The row of a trial write, which is rolled back, to test whether plants can be created.

import { randomBytes } from 'node:crypto'
import { type PlantRow, toRow } from '../../plant/row'

// In base64 this fills more pages than an ordinary create, page splits included.
const NAME_BYTES = 48 * 1024

/** A row with an unused id and an incompressible name. */
export function sampleRow(): PlantRow {
  const id = randomBytes(8).readBigInt64LE()
  return toRow({ id, name: randomBytes(NAME_BYTES).toString('base64'), tag: 'trial' })
}
