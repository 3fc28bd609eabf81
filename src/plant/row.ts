// A plant as a row: its columns, and what engines compare of it.

import {
  type ChangedTexts,
  exactNumber,
  FIELDS,
  type Int64,
  type NewPlant,
  OPTIONAL_TEXTS,
  type OptionalText,
  type Plant,
  toNewPlant,
} from './plant'

/** The columns of the table of plants, in the order of a {@link Row}. */
export const COLUMNS = FIELDS.join(', ')

/** An id that survives JSON: a number if that is exact, else its digits. */
export type RowId = number | string

/** The columns after the id: the name, and each optional text or null. */
export type RowTexts = readonly [name: string, ...optional: (string | null)[]]

/** A plant that survives JSON. */
export type Row = readonly [id: RowId, ...RowTexts]

/** A row of the table as a database returns it. */
export type StoredPlant = { readonly id: bigint; readonly name: string } & {
  readonly [Name in OptionalText]: string | null
}

// Numbers are cheaper than strings to serialize.
export const toRowId = (id: Int64): RowId => exactNumber(id) ?? String(id)

type Patched = ChangedTexts & Pick<NewPlant, 'id' | 'name'>

/** The row of a plant, in the service's form or a database's. */
export function toRow(plant: Patched | NewPlant | StoredPlant): Row {
  const row: [RowId, string, ...(string | null)[]] = [toRowId(plant.id), plant.name]
  for (const name of OPTIONAL_TEXTS) row.push(plant[name] ?? null)
  return row
}

export const plantOf = (stored: StoredPlant): NewPlant => toNewPlant(stored.id, stored)

function addTexts<P extends Plant>(plant: P, [, , ...texts]: Row): P {
  for (const [place, name] of OPTIONAL_TEXTS.entries()) {
    const text = texts[place]
    if (typeof text === 'string') plant[name] = text
  }
  return plant
}

export const toPlant = (row: Row): NewPlant => addTexts({ id: BigInt(row[0]), name: row[1] }, row)

/** The plant of a row, without its id. */
export const fieldsOf = (row: Row): Plant => addTexts({ name: row[1] }, row)

/** True if two rows of one id have the same fields. */
export const isSame = ([, ...texts]: Row, [, ...others]: Row): boolean =>
  texts.every((text, place) => text === others[place])

/** A row after a patch (RFC 7396). */
export const patchRow = (row: Row, patch: ChangedTexts): Row => toRow({ ...toPlant(row), ...patch })
