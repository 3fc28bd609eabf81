// Reads a range of the table, including rows that were not read yet.

import { ClientError, type NewPlant, type PlantPage } from '../../../client/client.ts'
import { ASCENDING } from './id-order.ts'
import type { PlantList } from './plant-list.ts'
import { readPages } from './plant-pages.ts'

export const MAX_RANGE = 100_000

export type Range = readonly NewPlant[] | 'too many' | 'failed'

/** The rows from one to another; null if some are not held. */
function heldRange({ rows }: PlantList, from: number, to: number): readonly NewPlant[] | null {
  if (from < 0 || to < 0 || to - from >= MAX_RANGE) return null
  return rows.range(from, to - from + 1)
}

/** Collects the plants of pages, up to the first that is past the range. */
async function collect(
  { rows }: PlantList,
  pages: AsyncIterable<PlantPage>,
  isPast: (plant: NewPlant) => boolean = () => false,
): Promise<Range> {
  const plants: NewPlant[] = []
  try {
    for await (const page of pages) {
      for (const plant of page.plants) {
        if (isPast(plant)) return plants
        if (!rows.isHidden(plant.id)) plants.push(plant)
      }
      if (plants.length > MAX_RANGE) return 'too many'
    }
    return plants
  } catch (error) {
    if (error instanceof ClientError) return 'failed'
    throw error
  }
}

/** Reads every plant with a tag, whatever the table shows. */
export const readTagged = (list: PlantList, tag: string): Promise<Range> =>
  collect(list, readPages(list.session, { tag }, ASCENDING))

/** Reads every plant that the table shows. */
export async function readEverything(list: PlantList): Promise<Range> {
  const { rows, query, session } = list
  const outcome = list.needsAll ? await list.readAll() : 'all'
  if (outcome !== 'all') return outcome
  if (rows.count.value > MAX_RANGE) return 'too many'
  return (
    heldRange(list, 0, rows.count.value - 1) ??
    collect(list, readPages(session, query.value, rows.parts.order))
  )
}

/** Reads the plants from one to another, both included, in the order of the table. */
export async function readRange(list: PlantList, one: bigint, other: bigint): Promise<Range> {
  const { rows, query, session } = list
  const rowIndexes = [rows.rowOf(one), rows.rowOf(other)]
  const [first, last] = [Math.min(...rowIndexes), Math.max(...rowIndexes)]
  const heldPlants = heldRange(list, first, last)
  // If one of them is gone, there is no range.
  if (heldPlants || rows.isSorted || rows.isFiltered)
    return heldPlants ?? (first < 0 ? [] : 'too many')
  const { order } = rows.parts
  const [from, to] = order.isBefore(one, other) ? [one, other] : [other, one]
  const pages = readPages(session, query.value, order, from - order.step)
  return collect(list, pages, ({ id }) => order.isBefore(to, id))
}
