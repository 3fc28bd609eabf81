// The filters of a list, for every test that tries them all; and which plants they are for.
import type { Plant } from '../../src/plant/plant'
import type { PlantFilter } from '../../src/plant/plants'

// ASCII only: the case of other letters counts, in every engine.
const foldCase = (text: string) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())

/** Every combination of the conditions besides the name. */
export const FILTERS: readonly PlantFilter[] = [
  {},
  { tag: 'x' },
  { tag: 'z' },
  { tag: '' },
  { tagged: true },
  { tagged: false },
]

/** The same, with these parts of a name. */
export const filtersWith = (names: readonly string[] | undefined): readonly PlantFilter[] =>
  FILTERS.map((filter) => ({ ...filter, names }))

/** True if a plant meets a filter. */
export const matches = (filter: PlantFilter, { name, tag }: Plant): boolean =>
  (filter.names ?? []).every((part) => foldCase(name).includes(foldCase(part))) &&
  (filter.tag === undefined || filter.tag === tag) &&
  (filter.tagged === undefined || filter.tagged === (tag !== undefined))
