// The change that a row asks for: a text without a column in its file stays as stored; an empty cell removes it.

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

/** The fields that a row gives; null: the plant is to have no such text. */
export type GivenPlant = Pick<Plant, 'id' | 'name'> & {
  readonly [Name in OptionalText]?: string | null
}

export type PlantEntry = Extract<Entry, { readonly plant: Plant }>

/** The texts for which a file has no column. */
export const keptTexts = (columns: Columns): readonly OptionalText[] =>
  OPTIONAL_TEXTS.filter((name) => columns[name] === null)

/** The fields that a row gives. `kept`: the texts without a column; an object of JSON may have a key that none before it had. */
export function givenOf(
  { plant, source: { cells } }: Pick<PlantEntry, 'plant' | 'source'>,
  keptFields: readonly OptionalText[],
): GivenPlant {
  const isKept = (name: OptionalText) =>
    keptFields.includes(name) && (Array.isArray(cells) || !Object.hasOwn(cells, name))
  const texts = OPTIONAL_TEXTS.filter((name) => !isKept(name))
  return {
    id: plant.id,
    name: plant.name,
    ...Object.fromEntries(texts.map((name) => [name, plant[name] ?? null])),
  }
}

type StoredTexts = { readonly name: string } & {
  readonly [Name in OptionalText]?: string | undefined
}

/** The names of the row's texts that differ from a stored plant's. */
export const differingTexts = (rowPlant: GivenPlant, storedTexts: StoredTexts) =>
  TEXT_FIELDS.filter(
    (name) => rowPlant[name] !== undefined && (storedTexts[name] ?? null) !== rowPlant[name],
  )

/** The plant that a row makes of a stored one, or a new one. */
export const plantOf = (rowPlant: GivenPlant, storedTexts?: StoredTexts): Plant =>
  toNewPlant(rowPlant.id, {
    name: rowPlant.name,
    ...ofOptionalTexts(
      (name) => (rowPlant[name] === undefined ? storedTexts?.[name] : rowPlant[name]) ?? null,
    ),
  })

/** The note on stored plants that keep a text for which the file has no column; empty if there are none. */
export function explainKept(count: number, keptFields: readonly OptionalText[]): string[] {
  if (count === 0 || keptFields.length === 0) return []
  const [keep, their] = count === 1 ? ['keeps', 'its'] : ['keep', 'their']
  return [`${count} ${keep} ${their} ${keptFields.join(' and ')}: the file has no column for it`]
}
