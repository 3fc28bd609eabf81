// The plants that a preview shows. Those with characters beyond ASCII are preferred, as they reveal a wrong encoding.

import { type Plant, TEXT_FIELDS } from '../plant/plant'

const BEYOND_ASCII = /[\u0080-\uffff]/

/** Chooses some plants of a file, and lists them in its order. */
export function createExamples(limit: number) {
  const beyondAscii: (readonly [index: number, Plant])[] = []
  const others: (readonly [index: number, Plant])[] = []
  let index = 0
  return {
    add(plant: Plant): void {
      index += 1
      if (beyondAscii.length === limit) return
      const isBeyond = TEXT_FIELDS.some((name) => BEYOND_ASCII.test(plant[name] ?? ''))
      if (isBeyond) beyondAscii.push([index, plant])
      else if (others.length < limit) others.push([index, plant])
    },

    list: (): Plant[] =>
      [...beyondAscii, ...others]
        .slice(0, limit)
        .toSorted(([a], [b]) => a - b)
        .map(([, plant]) => plant),
  }
}
