// The order of plants: by id, as the service lists them, or by a text, in the language of the browser.

import type { NewPlant } from '../../client/client.ts'
import { TEXTS } from './texts.ts'
import { yieldToBrowser } from './yield.ts'

/** The maximum number of plants that the page sorts: it must read all of them. */
export const MAX_SORTED = 100_000

/** The columns to sort by, in the order of the table. */
export const SORT_KEYS = ['id', ...TEXTS] as const
const RUN_LENGTH = 500

export type SortKey = (typeof SORT_KEYS)[number]
export type Sort = { readonly by: SortKey; readonly isDescending: boolean }
export type Compare = (a: NewPlant, b: NewPlant) => number

export const BY_ID: Sort = { by: 'id', isDescending: false }

/** Parses an order in the URL, such as `-name`; by id if it is invalid. */
export function parseSort(text: string): Sort {
  const by = SORT_KEYS.find((key) => key === text.replace('-', ''))
  return by ? { by, isDescending: text.startsWith('-') } : BY_ID
}

/** The text of an order, for {@link parseSort}; '' for ascending ids. */
export const sortText = ({ by, isDescending }: Sort): string =>
  isDescending ? `-${by}` : by === 'id' ? '' : by

/** The order after a click on a column's header. */
export const toggleSort = (sort: Sort, by: SortKey): Sort => ({
  by,
  isDescending: sort.by === by && !sort.isDescending,
})

/** Compares texts; numbers within them count as numbers. Plants without the text come last, either way. */
export function comparatorOf({ by, isDescending }: Sort): Compare {
  const { compare } = new Intl.Collator(undefined, { numeric: true })
  const sign = isDescending ? -1 : 1
  const byId: Compare = (a, b) => (a.id < b.id ? -1 : Number(a.id > b.id))
  if (by === 'id') return (a, b) => sign * byId(a, b)
  if (by === 'name') return (a, b) => sign * compare(a.name, b.name) || byId(a, b)
  return (a, b) =>
    Number(!a[by]) - Number(!b[by]) ||
    sign * compare(a[by] ?? '', b[by] ?? '') ||
    compare(a.name, b.name) ||
    byId(a, b)
}

/** The index of the first element that meets a condition, as do all after it; the length if none does. */
export function lowerBound<T>(items: readonly T[], meets: (element: T) => boolean): number {
  let low = 0
  let high = items.length
  while (low < high) {
    const middle = (low + high) >> 1
    const element = items[middle]
    if (element !== undefined && !meets(element)) low = middle + 1
    else high = middle
  }
  return low
}

/** The index of a plant among sorted ones. */
export function insertionIndex(
  sortedPlants: readonly NewPlant[],
  plant: NewPlant,
  compare: Compare,
): number {
  return lowerBound(sortedPlants, (other) => compare(other, plant) >= 0)
}

async function merge(
  a: readonly NewPlant[],
  b: readonly NewPlant[],
  compare: Compare,
  pause: () => Promise<void>,
): Promise<NewPlant[]> {
  const result: NewPlant[] = []
  let [first, second] = [0, 0]
  for (let one = a[0], other = b[0]; one && other; one = a[first], other = b[second]) {
    const isSecond = compare(other, one) < 0
    result.push(isSecond ? other : one)
    if (isSecond) second += 1
    else first += 1
    if (result.length % RUN_LENGTH === 0) await pause()
  }
  return result.concat(a.slice(first), b.slice(second))
}

/** Sorts plants in slices, between which the page can draw and respond. */
export async function sortInSlices(
  plants: readonly NewPlant[],
  compare: Compare,
): Promise<NewPlant[]> {
  const pause = yieldToBrowser()
  let runs: NewPlant[][] = []
  for (let at = 0; at < plants.length; at += RUN_LENGTH) {
    runs.push(plants.slice(at, at + RUN_LENGTH).sort(compare))
    await pause()
  }
  while (runs.length > 1) {
    const longer: NewPlant[][] = []
    for (let at = 0; at < runs.length; at += 2) {
      longer.push(await merge(runs[at] ?? [], runs[at + 1] ?? [], compare, pause))
    }
    runs = longer
  }
  return runs[0] ?? []
}
