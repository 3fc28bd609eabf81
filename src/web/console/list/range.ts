// The plants of an action on many: those of the table, or those with a tag.

import { ClientError, type NewPlant } from '../../../client/client.ts'
import { MAX_SORTED } from '../sort.ts'
import type { PlantList } from './plant-list.ts'
import { readPages } from './plant-pages.ts'

export const MAX_RANGE = MAX_SORTED

export type Range = readonly NewPlant[] | 'too many' | 'failed'

/** Reads every plant with a tag, whatever the table shows. */
export async function readTagged({ rows, session }: PlantList, tag: string): Promise<Range> {
  const plants: NewPlant[] = []
  try {
    for await (const page of readPages(session, { tag }, false)) {
      plants.push(...page.filter(({ id }) => !rows.isHidden(id)))
      if (plants.length > MAX_RANGE) return 'too many'
    }
    return plants
  } catch (error) {
    if (error instanceof ClientError) return 'failed'
    throw error
  }
}

/** Reads every plant that the table shows. */
export async function readEverything(list: PlantList): Promise<Range> {
  const outcome = await list.readAll()
  return outcome === 'all' ? list.rows.heldPlants() : outcome
}

/** The plants from one to another, both included, in the order of the table; none if one of them is gone. */
export function plantsBetween({ rows }: PlantList, one: bigint, other: bigint) {
  const [first = -1, last = -1] = [rows.rowOf(one), rows.rowOf(other)].sort((a, b) => a - b)
  return first < 0 ? [] : rows.heldPlants().slice(first, last + 1)
}
