// The settings for reading a file, and the question about a file that cannot be read before it is answered.

import { OpenError } from '../errors'
import type { ColumnOptions } from './header'

/** The settings for reading a file; null to detect one from the first bytes and lines. */
export type Settings = {
  readonly encoding: string | null
  readonly delimiter: string | null
  readonly sheet: string | null
  /** False if the first row is data. */
  readonly header: boolean
  /** The line of the header; null for the first row. Rows above it are ignored. */
  readonly headerRow: number | null
  /** The path of the list of plants in JSON: keys joined by dots, `*` for any key. */
  readonly list: string | null
  /** Texts that mark an empty cell, such as NA. */
  readonly null: readonly string[] | null
}

export const USUAL_SETTINGS: Settings = {
  encoding: null,
  delimiter: null,
  sheet: null,
  header: true,
  headerRow: null,
  list: null,
  null: null,
}

/** Why the plants of a file cannot be read yet, and what to read it with. */
export class Question extends OpenError {
  constructor(
    reason: string,
    /** The settings that must change, or null if only the user knows the value. */
    readonly settings: Partial<Settings>,
    /** The columns to propose, or null if they show once the settings have changed. */
    readonly columns: ColumnOptions | null = null,
    /** The lists of a JSON document to choose from. */
    readonly lists: readonly string[] = [],
  ) {
    super(reason)
  }
}
