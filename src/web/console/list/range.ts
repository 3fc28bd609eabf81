// Reads a range of the table, including rows that were not read yet.

import type { NewPlant } from '../../../client/client.ts'
import { ASCENDING } from './id-order.ts'
import type { PlantList } from './plant-list.ts'
import { readPages } from './plant-pages.ts'

export const MAX_RANGE = 100_000

export type Range = readonly NewPlant[] | 'too many' | 'failed'

/** The rows from one to another; null if some are not held. */
function heldRange({ rows }: PlantList, from: number, to: number): readonly NewPlant[] | null {
  if (from < 0 || to < 0 || to - from >= MAX_RANGE) return null
  const plants = Array.from({ length: to - from + 1 }, (_, at) => rows.row(from + at))
  return plants.every((plant) => plant !== undefined) ? plants : null
}

/** Reads the plants from `first` to `last` in the order of ids; null: the first or last of the list. */
async function readBetween(list: PlantList, first: bigint | null, last: bigint | null) {
  const { rows, query, session, reader } = list
  const { order } = rows.parts
  const { generation } = reader
  const plants: NewPlant[] = []
  const pages = readPages(session, query.value, order, first === null ? null : first - order.step)
  for (;;) {
    const page = await pages.next()
    if (generation !== reader.generation) return 'failed'
    if (page.done) return page.value === null ? plants : 'failed'
    for (const plant of page.value.plants) {
      if (last !== null && order.isBefore(last, plant.id)) return plants
      if (!rows.isHidden(plant.id)) plants.push(plant)
    }
    if (plants.length > MAX_RANGE) return 'too many'
  }
}

/** Reads every plant with a tag, whatever the table shows. */
export async function readTagged({ session, rows }: PlantList, tag: string): Promise<Range> {
  const plants: NewPlant[] = []
  const pages = readPages(session, { tag }, ASCENDING)
  for (;;) {
    const page = await pages.next()
    if (page.done) return page.value === null ? plants : 'failed'
    plants.push(...page.value.plants.filter(({ id }) => !rows.isHidden(id)))
    if (plants.length > MAX_RANGE) return 'too many'
  }
}

/** Reads every plant that the table shows. */
export async function readEverything(list: PlantList): Promise<Range> {
  const { rows } = list
  if (rows.count.value > MAX_RANGE) return 'too many'
  return heldRange(list, 0, rows.count.value - 1) ?? readBetween(list, null, null)
}

/** Reads the plants from one to another, both included, in the order of the table. */
export async function readRange(list: PlantList, one: bigint, other: bigint): Promise<Range> {
  const { rows } = list
  const rowIndexes = [rows.rowOf(one), rows.rowOf(other)]
  const [first, last] = [Math.min(...rowIndexes), Math.max(...rowIndexes)]
  const heldPlants = heldRange(list, first, last)
  // If one of them is gone, there is no range.
  if (heldPlants || rows.isSorted || rows.isFiltered)
    return heldPlants ?? (first < 0 ? [] : 'too many')
  const isForward = rows.parts.order.isBefore(one, other)
  return isForward ? readBetween(list, one, other) : readBetween(list, other, one)
}
