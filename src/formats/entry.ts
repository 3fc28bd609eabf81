// What is on a line of a file of plants.

import type { NewPlant, Text } from '../plant'

/** The value of a line, or what is wrong with it. `line`: its number, counted from 1; of a record of CSV, the last. */
export type RawEntry = { readonly line: number } & (
  | { readonly value: unknown }
  | { readonly problem: string }
)

/** A plant in a file, or what is wrong with its line. */
export type Entry = { readonly line: number } & (
  | { readonly plant: NewPlant }
  | { readonly problem: string }
)

/** A plant to write; a text that is undefined is absent. */
export type PlantToWrite = Pick<NewPlant, 'id' | 'name'> & {
  readonly [Name in Text]?: string | undefined
}
