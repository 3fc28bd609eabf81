// The sentence that says how many plants are shown, and how they were found.

import { sentenceOf } from '../../sentence.ts'
import { countPlants } from '../counts.ts'
import type { PlantList } from '../list/plant-list.ts'
import { isEverything } from '../query.ts'

/** The progress of reading all plants, which the page searches or sorts. */
function describeReading({ rows, total }: PlantList): string {
  const found = rows.isFiltered ? `${countPlants(rows.count.value)} found; ` : ''
  const of = total === undefined ? '' : ` of ${total.toLocaleString()}`
  return sentenceOf(`${found}reading ${rows.readCount.value.toLocaleString()}${of}…`)
}

/** The number of plants in a list that is read on as its end comes into view. */
function describePart({ rows, visibleQuery, total, isShort }: PlantList): string {
  const { value: count } = rows.count
  // The rest is about to be read.
  if (isShort) return ''
  if (isEverything(visibleQuery)) {
    if (count === 0) return ''
    const of = total === undefined ? 'plants' : `of ${countPlants(total)}`
    return `The first ${count.toLocaleString()} ${of}; a search or a filter finds any`
  }
  if (count === 0) return 'None found yet; still searching'
  return `${countPlants(count)} found so far; scroll for more`
}

export function describeFound(list: PlantList): string {
  const { rows, visibleQuery, reader, sort } = list
  rows.version.value
  const isReadingAll = reader.isReadingAll.value
  if (!rows.isComplete.value) return isReadingAll ? describeReading(list) : describePart(list)
  const plants = countPlants(rows.count.value)
  if (isReadingAll && sort.value.by !== 'id' && !rows.isSorted) return `Sorting ${plants}…`
  if (isEverything(visibleQuery)) return ''
  if (visibleQuery.name !== undefined)
    return `${plants} found; ${rows.isFiltered ? 'accents and word order ignored' : 'exact spelling only'}`
  return `${plants} found${visibleQuery.isUntagged ? ' without a tag' : ''}`
}
