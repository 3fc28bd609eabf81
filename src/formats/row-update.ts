// The update that a row of a file asks for. A text without a column stays as it is stored; an empty cell removes it.

import {
  OPTIONAL_TEXTS,
  type OptionalText,
  ofOptionalTexts,
  type Plant,
  TEXT_FIELDS,
  toNewPlant,
} from '../plant/plant'
import type { Columns } from './columns'
import type { Entry } from './row'

/** The fields of a row; null removes a text, undefined leaves it as it is stored. */
export type RowUpdate = Pick<Plant, 'id' | 'name'> & {
  readonly [Name in OptionalText]?: string | null
}

export type PlantEntry = Extract<Entry, { readonly plant: Plant }>

/** The texts for which a file has no column. */
export const findUnmapped = (columns: Columns): readonly OptionalText[] =>
  OPTIONAL_TEXTS.filter((name) => columns[name] === null)

/** The update of a row. A JSON object may have a text for which the objects before it had no key. */
export function updateOf(
  { plant, source: { cells } }: Pick<PlantEntry, 'plant' | 'source'>,
  unmappedTexts: readonly OptionalText[],
): RowUpdate {
  const isUnmapped = (name: OptionalText) =>
    unmappedTexts.includes(name) && (Array.isArray(cells) || !Object.hasOwn(cells, name))
  const texts = OPTIONAL_TEXTS.filter((name) => !isUnmapped(name))
  return {
    id: plant.id,
    name: plant.name,
    ...Object.fromEntries(texts.map((name) => [name, plant[name] ?? null])),
  }
}

type StoredTexts = { readonly name: string } & {
  readonly [Name in OptionalText]?: string | undefined
}

/** The names of the texts that an update changes. */
export const differingTexts = (update: RowUpdate, storedTexts: StoredTexts) =>
  TEXT_FIELDS.filter(
    (name) => update[name] !== undefined && (storedTexts[name] ?? null) !== update[name],
  )

/** A stored plant after an update; without one, the new plant. */
export const applyUpdate = (update: RowUpdate, storedTexts?: StoredTexts): Plant =>
  toNewPlant(update.id, {
    name: update.name,
    ...ofOptionalTexts(
      (name) => (update[name] === undefined ? storedTexts?.[name] : update[name]) ?? null,
    ),
  })
