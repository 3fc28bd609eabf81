// A plant as a row: its columns, and what engines compare and count of it.

import { exactNumber, type Int64, type NewPlant, toNewPlant } from '../plant'
import type { PlantPatch } from '../store'

/** The columns of the table of plants, in the order of a {@link Row}. */
export const COLUMNS = 'id, name, tag'

/** An id that survives JSON: a number if that is exact, else its digits. */
export type RowId = number | string

/** A plant that survives JSON. */
export type Row = readonly [id: RowId, name: string, tag: string | null]

/** A row of the table as a database returns it. */
export type StoredPlant = {
  readonly id: bigint
  readonly name: string
  readonly tag: string | null
}

// Digits for every id would cost both threads more time to write and to parse.
export const toRowId = (id: Int64): RowId => exactNumber(id) ?? String(id)

export const toRow = ({ id, name, tag }: NewPlant): Row => [toRowId(id), name, tag ?? null]

export const rowOf = ({ id, name, tag }: StoredPlant): Row => [toRowId(id), name, tag]

export const toPlant = ([id, name, tag]: Row): NewPlant => toNewPlant(BigInt(id), { name, tag })

export const plantOf = (stored: StoredPlant): NewPlant => toNewPlant(stored.id, stored)

/** Whether two rows of one id have the same fields. */
export const isSame = ([, name, tag]: Row, other: Row): boolean =>
  name === other[1] && tag === other[2]

/** A row after a patch (RFC 7396). */
export const patchRow = ([id, name, tag]: Row, patch: PlantPatch): Row => [
  id,
  patch.name ?? name,
  patch.tag === undefined ? tag : patch.tag,
]

/** The characters of the texts of a plant or a patch. */
export const charactersOf = ({ name, tag }: PlantPatch): number =>
  (name?.length ?? 0) + (tag?.length ?? 0)
