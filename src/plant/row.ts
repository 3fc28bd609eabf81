// A plant as a row: its columns, and what engines compare of it.

import {
  type ChangedTexts,
  exactNumber,
  FIELDS,
  type Int64,
  type NewPlant,
  type Plant,
  type TEXTS,
  type Text,
  toNewPlant,
} from './plant'

/** The columns of the table of plants, in the order of a {@link Row}. */
export const COLUMNS = FIELDS.join(', ')

/** An id that survives JSON: a number if that is exact, else its digits. */
export type RowId = number | string

type Stored<Name> = Name extends 'name' ? string : string | null
type StoredEach<Names> = { readonly [Place in keyof Names]: Stored<Names[Place]> }

/** The columns after the id. */
export type RowTexts = StoredEach<typeof TEXTS>

/** A plant that survives JSON. */
export type Row = readonly [id: RowId, ...RowTexts]

/** A row of the table as a database returns it. */
export type StoredPlant = { readonly id: bigint } & {
  readonly [Name in Text]: Stored<Name>
}

// Digits for every id would cost both threads more time to write and to parse.
export const toRowId = (id: Int64): RowId => exactNumber(id) ?? String(id)

/** The row of a plant, in the service's form or a database's. */
export const toRow = ({ id, name, tag }: NewPlant | StoredPlant): Row => [
  toRowId(id),
  name,
  tag ?? null,
]

export const plantOf = (stored: StoredPlant): NewPlant => toNewPlant(stored.id, stored)

export const toPlant = ([id, name, tag]: Row): NewPlant => plantOf({ id: BigInt(id), name, tag })

/** The plant of a row, without its id. */
export const fieldsOf = ([, name, tag]: Row): Plant => (tag === null ? { name } : { name, tag })

/** True if two rows of one id have the same fields. */
export const isSame = ([, ...texts]: Row, [, ...others]: Row): boolean =>
  texts.every((text, place) => text === others[place])

/** A row after a patch (RFC 7396). */
export const patchRow = ([id, name, tag]: Row, patch: ChangedTexts): Row => [
  id,
  patch.name ?? name,
  patch.tag === undefined ? tag : patch.tag,
]
