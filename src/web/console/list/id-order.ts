// The two orders of ids in which the service lists plants.

import { INT64_MAX, INT64_MIN } from '../int64.ts'
import { type Compare, comparatorOf } from '../sort.ts'

export type IdOrder = {
  readonly isDescending: boolean
  readonly step: bigint
  /** The last id there can be. */
  readonly end: bigint
  /** True if an id comes before another one. */
  readonly isBefore: (a: bigint, b: bigint) => boolean
  readonly compare: Compare
}

export const ASCENDING: IdOrder = {
  isDescending: false,
  step: 1n,
  end: INT64_MAX,
  isBefore: (a, b) => a < b,
  compare: comparatorOf({ by: 'id', isDescending: false }),
}

export const DESCENDING: IdOrder = {
  isDescending: true,
  step: -1n,
  end: INT64_MIN,
  isBefore: (a, b) => a > b,
  compare: comparatorOf({ by: 'id', isDescending: true }),
}
