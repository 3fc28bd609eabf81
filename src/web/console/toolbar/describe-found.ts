// The sentence that says how many plants are shown, and how they were found.

import { countPlants } from '../counts.ts'
import type { PlantList } from '../list/plant-list.ts'
import { isEverything } from '../query.ts'

/** The progress of reading all plants, then of sorting them. */
function describeReading({ rows, total }: PlantList): string {
  const readCount = rows.readCount.value
  if (rows.parts.isHeld) return `Sorting ${countPlants(readCount)}…`
  const some = readCount.toLocaleString()
  return total === undefined
    ? `Reading… ${some} so far`
    : `Reading ${some} of ${countPlants(total)}…`
}

/** The number of plants that the page itself found; in an unfinished list, among those that were read. */
function describeLocalResults({ rows, total, needsAll }: PlantList): string {
  const foundPlants = countPlants(rows.foundCount.value)
  if (rows.parts.isHeld) {
    return `${foundPlants} found; accents and word order ignored`
  }
  const readText = rows.readCount.value.toLocaleString()
  if (needsAll) {
    return `${foundPlants} found among the ${readText} read${total ? ` of ${total.toLocaleString()}` : ''}…`
  }
  return `${foundPlants} found among the ${readText} read so far; press Enter to search all`
}

/** `isCounted`: true if the status line shows the number of stored plants. */
export function describeFound(list: PlantList, isCounted: boolean): string {
  const { rows, visibleQuery, reader } = list
  rows.version.value
  if (rows.isFiltered) return describeLocalResults(list)
  // The page is about to search.
  if (list.typedQuery.value || list.searchesLocally) return ''
  if (reader.isReadingAll.value && !rows.isSorted) return describeReading(list)
  const foundCount = rows.foundCount.value
  const isAll = isEverything(visibleQuery)
  if (!rows.isComplete.value) {
    if (isAll && isCounted) return ''
    if (foundCount === 0) return 'None found yet; still searching'
    return `${countPlants(foundCount)} ${isAll ? '' : 'found '}so far; scroll for more`
  }
  if (isAll) return ''
  if (visibleQuery.id !== undefined && foundCount === 1) return 'The plant with this ID'
  const how = visibleQuery.isUntagged ? ' without a tag' : ''
  return `${countPlants(foundCount)} found${visibleQuery.name === undefined ? how : '; exact spelling only'}`
}
