// Proposes columns for the id and the texts, from the header and the first rows.

import { type Columns, ColumnsError, resolveColumns } from '../../../formats/columns.ts'
import { type Guess, guessColumns, settingsOf } from '../../../formats/guess.ts'
import { type ColumnOptions, ofColumnOptions } from '../../../formats/header.ts'
import { readPlants } from '../../../formats/plants.ts'
import type { Settings, Table } from '../../../formats/table.ts'
import { type OptionalText, ofOptionalTexts, parseInt64 } from '../../../plant/plant.ts'
import { FORM_ADVICE } from './advice.ts'

const USUAL: ColumnOptions = {
  idColumn: null,
  nameColumn: null,
  numberFrom: null,
  ...ofColumnOptions(() => null),
}

/**
 * The chosen columns, as indexes. `id`: null if rows are numbered; an optional text: null if it has none; `name`: empty until
 * one is chosen.
 */
export type ColumnChoice = {
  readonly id: number | null
  readonly name: readonly number[]
  /** The id of the first row if rows are numbered, as it was typed. */
  readonly numberFrom: string
} & { readonly [Name in OptionalText]: number | null }

const NOTHING = { id: null, name: [], ...ofOptionalTexts(() => null) }

/** The chosen columns; null if one is missing. */
export function toColumns({ id, name, numberFrom, ...optional }: ColumnChoice): Columns | null {
  if (name.length === 0) return null
  const number = parseInt64(numberFrom.trim())
  if (id === null && number === null) return null
  return { id, numberFrom: id === null ? number : null, name, ...optional }
}

type Header = Omit<Table, 'lines'>

/** True if a row of the sample makes a plant. */
async function hasValidRow(table: Header, columns: Columns): Promise<boolean> {
  const lines = (async function* () {
    yield table.sample
  })()
  for await (const entries of readPlants({ ...table, lines }, columns, FORM_ADVICE, () => {})) {
    if (entries.some((entry) => 'plant' in entry)) return true
  }
  return false
}

export type Proposal = {
  readonly columns: Omit<ColumnChoice, 'numberFrom'>
  /** True if the columns have their usual names. */
  readonly isUsual: boolean
  /** Other settings to open the file with, before its columns can be proposed. */
  readonly settings: Partial<Settings>
}

export const NO_PROPOSAL: Proposal = { columns: NOTHING, isUsual: false, settings: {} }

/** Proposes columns for a table, or other settings. */
export async function propose(table: Header): Promise<Proposal> {
  const { header, sample, isNamed } = table
  const usual = ({ numberFrom: _, ...columns }: Columns): Proposal => ({
    columns,
    isUsual: true,
    settings: {},
  })
  function fromGuess(guess: Guess): Proposal {
    const settings = settingsOf(guess, table)
    if ('list' in settings || 'headerRow' in settings) return { ...NO_PROPOSAL, settings }
    if (guess.nameColumn === null) return NO_PROPOSAL
    const columns = resolveColumns(header, sample, guess, guess.header)
    return { ...usual(columns), isUsual: false, settings }
  }
  try {
    const columns = resolveColumns(header, sample, USUAL, isNamed)
    // A column named "id" may hold texts.
    const areValid = sample.length === 0 || (await hasValidRow(table, columns))
    const guess = areValid ? null : guessColumns(header, sample, isNamed)
    return guess?.nameColumn && guess.idColumn === null ? fromGuess(guess) : usual(columns)
  } catch (error) {
    if (!(error instanceof ColumnsError)) throw error
    return fromGuess(error.guess)
  }
}
