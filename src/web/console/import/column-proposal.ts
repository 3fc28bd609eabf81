// The columns for the id and the texts, as they are proposed and chosen.

import { type Columns, resolveColumns } from '../../../formats/columns.ts'
import { type ColumnOptions, ofColumnOptions } from '../../../formats/header.ts'
import { Question, type Settings } from '../../../formats/question.ts'
import type { Table } from '../../../formats/table.ts'
import { type OptionalText, ofOptionalTexts, parseInt64 } from '../../../plant/plant.ts'

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

export type Proposal = {
  readonly columns: Omit<ColumnChoice, 'numberFrom'>
  /** Other settings to open the file with, before its columns can be proposed. */
  readonly settings: Partial<Settings>
  /** True if the file needs no answer. */
  readonly isUsual: boolean
}

export const NO_PROPOSAL: Proposal = { columns: NOTHING, settings: {}, isUsual: false }

/** Proposes columns for a table, or other settings. */
export function propose(table: Omit<Table, 'lines'>): Proposal {
  const columnsFor = (options: ColumnOptions) => {
    const { numberFrom: _, ...columns } = resolveColumns(table, options)
    return columns
  }
  try {
    return { columns: columnsFor(USUAL), settings: {}, isUsual: true }
  } catch (error) {
    if (!(error instanceof Question)) throw error
    const { settings, columns } = error
    const isKnown = columns?.nameColumn && Object.keys(settings).length === 0
    return { ...NO_PROPOSAL, settings, ...(isKnown ? { columns: columnsFor(columns) } : {}) }
  }
}
