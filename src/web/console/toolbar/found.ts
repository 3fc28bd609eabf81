// The sentence about the plants that are shown: how many, and who found them.

import { plantsOf } from '../counts.ts'
import type { PlantList } from '../list/plant-list.ts'
import { isEverything } from '../query.ts'

/** The progress of reading all plants, then of sorting them. */
function progressOf({ rows, total }: PlantList): string {
  const readCount = rows.readCount.value
  if (rows.parts.isHeld) return `Sorting ${plantsOf(readCount)}…`
  const some = readCount.toLocaleString()
  return total === undefined ? `Reading… ${some} so far` : `Reading ${some} of ${plantsOf(total)}…`
}

/** The plants that the page itself has found; in a list that is not read whole, among those that were read. */
function foundHere({ rows, total, needsAll }: PlantList): string {
  const foundPlants = plantsOf(rows.foundCount.value)
  if (rows.parts.isHeld) {
    return `${foundPlants} found; accents and word order ignored`
  }
  const readText = rows.readCount.value.toLocaleString()
  if (needsAll) {
    return `${foundPlants} found among the ${readText} read${total ? ` of ${total.toLocaleString()}` : ''}…`
  }
  return `${foundPlants} found among the ${readText} read so far; press Enter to search all`
}

/** `isCounted`: the status line says how many are stored. */
export function describeFound(list: PlantList, isCounted: boolean): string {
  const { rows, visibleQuery, reader } = list
  rows.version.value
  if (rows.isFiltered) return foundHere(list)
  if (reader.isReadingAll.value && !rows.isSorted) return progressOf(list)
  const foundText = rows.foundCount.value
  const isAll = isEverything(visibleQuery)
  if (!rows.isComplete.value) {
    if (isAll && isCounted) return ''
    if (foundText === 0) return 'None found yet; still searching'
    return `${plantsOf(foundText)} ${isAll ? '' : 'found '}so far; scroll for more`
  }
  if (isAll) return ''
  if (visibleQuery.id !== undefined && foundText === 1) return 'The plant with this ID'
  const how = visibleQuery.isUntagged ? ' without a tag' : ''
  return `${plantsOf(foundText)} found${visibleQuery.name === undefined ? how : '; exact spelling only'}`
}
