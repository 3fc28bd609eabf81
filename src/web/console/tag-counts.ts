// How many plants have each tag, of those that were read.

import type { NewPlant } from '../../client/client.ts'

export type CountedTags = {
  readonly counts: ReadonlyMap<string, number>
  /** How many plants were counted. */
  readonly plants: number
  /** True if there are more plants. */
  readonly isPart: boolean
}

/** Counts the tags of plants; an empty one is none. */
export function countTags(plants: Iterable<NewPlant>, isPart: boolean): CountedTags {
  const counts = new Map<string, number>()
  let all = 0
  for (const { tag } of plants) {
    all += 1
    if (tag) counts.set(tag, (counts.get(tag) ?? 0) + 1)
  }
  return { counts, plants: all, isPart }
}
