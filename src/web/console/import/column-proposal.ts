// Proposes columns for the id and the texts, from the header and the first rows.

import { type Columns, ColumnsError, resolveColumns } from '../../../formats/columns.ts'
import { type Guess, guessColumns } from '../../../formats/guess.ts'
import { type ColumnOptions, ofColumnOptions } from '../../../formats/header.ts'
import { readPlants } from '../../../formats/plants.ts'
import type { Table } from '../../../formats/table.ts'
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

/** The columns by their usual headings; a guess if they have others; null: no column looks like a name. */
function resolve({ header, sample, isNamed }: Header): Columns | Guess | null {
  try {
    return resolveColumns(header, sample, USUAL, isNamed)
  } catch (error) {
    if (!(error instanceof ColumnsError)) throw error
    const { nameColumn, headerRow } = error.guess
    return nameColumn === null && headerRow === null ? null : error.guess
  }
}

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
  /** True if the first row names the columns. */
  readonly hasHeader: boolean
  /** The line of the header, if it is another row. */
  readonly headerRow: number | null
}

export const NO_PROPOSAL: Proposal = {
  columns: NOTHING,
  isUsual: false,
  hasHeader: true,
  headerRow: null,
}

/** Proposes columns for a table. */
export async function propose(table: Header): Promise<Proposal> {
  const { header, sample, isNamed } = table
  const resolution = resolve(table)
  if (resolution === null) return { ...NO_PROPOSAL, hasHeader: isNamed }
  const withoutNumber = ({ numberFrom: _, ...columns }: Columns) => columns
  const fromGuess = (guess: Guess): Proposal => ({
    columns:
      guess.headerRow === null
        ? withoutNumber(resolveColumns(header, sample, guess, guess.header))
        : NOTHING,
    isUsual: false,
    hasHeader: guess.header,
    headerRow: guess.headerRow,
  })
  if ('header' in resolution) return fromGuess(resolution)
  // A column named "id" may hold texts.
  if (sample.length > 0 && !(await hasValidRow(table, resolution))) {
    const guess = guessColumns(header, sample, isNamed)
    if (guess.idColumn === null && guess.nameColumn !== null) return fromGuess(guess)
  }
  return { columns: withoutNumber(resolution), isUsual: true, hasHeader: isNamed, headerRow: null }
}
