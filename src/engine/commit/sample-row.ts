// The row of a trial write, which is rolled back, to test whether plants can be created.

import { type PlantRow, toRow } from '../../plant/row'

// In base64 this fills more pages than an ordinary create, page splits included.
const NAME_BYTES = 48 * 1024

/** A row with an unused id and an incompressible name. */
export function sampleRow(): PlantRow {
  const [id = 0n] = crypto.getRandomValues(new BigInt64Array(1))
  const name = crypto.getRandomValues(new Uint8Array(NAME_BYTES)).toBase64()
  return toRow({ id, name, tag: 'trial' })
}
