// The change of one plant: forwards as it was done, or back.

import type { NewPlant, PlantChange } from '../../../client/client.ts'
import { TEXTS, type TextName } from '../texts.ts'

export type Step = {
  readonly id: bigint
  /** Null if it is created. */
  readonly before: NewPlant | null
  /** Null if it is deleted. */
  readonly after: NewPlant | null
}

export const creationOf = (after: NewPlant): Step => ({ id: after.id, before: null, after })
export const deletionOf = (before: NewPlant): Step => ({ id: before.id, before, after: null })

export const inverseOf = ({ id, before, after }: Step): Step => ({
  id,
  before: after,
  after: before,
})

/** A plant with another tag; '' for none. */
export function taggingOf(before: NewPlant, tag: string): Step {
  const { tag: _, ...others } = before
  return { id: before.id, before, after: tag === '' ? others : { ...others, tag } }
}

/** The texts that a change of a plant changes. */
export const changedTexts = ({ before, after }: Step): readonly TextName[] =>
  before && after ? TEXTS.filter((text) => before[text] !== after[text]) : []

/** Some texts of a plant; null for a missing one. */
export const textsOf = (plant: NewPlant | null, texts: readonly TextName[]): PlantChange =>
  Object.fromEntries(texts.map((text) => [text, plant?.[text] ?? null]))

/** A plant with other texts; null removes one. */
export function withTexts({ id, ...texts }: NewPlant, change: PlantChange): NewPlant {
  const entries = Object.entries({ ...texts, ...change }).filter(([, text]) => text !== null)
  return { id, name: '', ...Object.fromEntries(entries) }
}
