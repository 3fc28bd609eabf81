// The plants that a preview shows: those with characters beyond ASCII first, by which a wrong encoding is seen.

import { type Plant, TEXT_FIELDS } from '../plant/plant'

const BEYOND_ASCII = /[\u0080-\uffff]/

/** Chooses some plants of a file, and lists them in its order. */
export function createExamples(limit: number) {
  const beyondAscii: (readonly [place: number, Plant])[] = []
  const others: (readonly [place: number, Plant])[] = []
  let place = 0
  return {
    add(plant: Plant): void {
      place += 1
      if (beyondAscii.length === limit) return
      const isBeyond = TEXT_FIELDS.some((name) => BEYOND_ASCII.test(plant[name] ?? ''))
      if (isBeyond) beyondAscii.push([place, plant])
      else if (others.length < limit) others.push([place, plant])
    },

    list: (): Plant[] =>
      [...beyondAscii, ...others]
        .slice(0, limit)
        .toSorted(([a], [b]) => a - b)
        .map(([, plant]) => plant),
  }
}
