// The sentence about the plants that are shown: how many, and who found them.

import { plantsOf } from '../counts.ts'
import type { PlantList } from '../list/plant-list.ts'
import { isEverything } from '../query.ts'

/** The progress of reading all plants, then of sorting them. */
function progressOf({ rows, total }: PlantList): string {
  const read = rows.read.value
  if (rows.parts.isHeld) return `Sorting ${plantsOf(read)}…`
  const some = read.toLocaleString()
  return total === undefined ? `Reading… ${some} so far` : `Reading ${some} of ${plantsOf(total)}…`
}

/** The plants that the page itself has found; in a list that is not read whole, among those that were read. */
function foundHere({ rows, total, readsAll }: PlantList): string {
  const found = plantsOf(rows.found.value)
  if (rows.parts.isHeld) {
    return `${found} found; accents and word order ignored`
  }
  const read = rows.read.value.toLocaleString()
  if (readsAll) {
    return `${found} found among the ${read} read${total ? ` of ${total.toLocaleString()}` : ''}…`
  }
  return `${found} found among the ${read} read so far; press Enter to search all`
}

/** `isCounted`: the status line says how many are stored. */
export function describeFound(list: PlantList, isCounted: boolean): string {
  const { rows, searched, reader } = list
  rows.version.value
  if (rows.isNarrowed) return foundHere(list)
  if (reader.isReadingAll.value && !rows.isSorted) return progressOf(list)
  const found = rows.found.value
  const isAll = isEverything(searched)
  if (!rows.isComplete.value) {
    if (isAll && isCounted) return ''
    if (found === 0) return 'None found yet; still searching'
    return `${plantsOf(found)} ${isAll ? '' : 'found '}so far; scroll for more`
  }
  if (isAll) return ''
  if (searched.id !== undefined && found === 1) return 'The plant with this ID'
  const how = searched.isUntagged ? ' without a tag' : ''
  return `${plantsOf(found)} found${searched.name === undefined ? how : '; exact spelling only'}`
}
