// A plant as a row: its columns, and comparisons for engines.

import {
  type ChangedTexts,
  exactNumber,
  FIELDS,
  type Int64,
  OPTIONAL_TEXTS,
  type OptionalText,
  type Plant,
  type PlantFields,
  TEXT_FIELDS,
  toNewPlant,
} from './plant'

/** The columns of the table of plants, in the order of a {@link PlantRow}. */
export const COLUMNS = FIELDS.join(', ')

/** An id that survives JSON: a number if it is exact, else digits. */
export type RowId = number | string

/** The columns after the id: the name, and each optional text or null. */
export type RowTexts = readonly [name: string, ...optional: (string | null)[]]

/** A plant that survives JSON. */
export type PlantRow = readonly [id: RowId, ...RowTexts]

/** A row of the table as a database returns it. */
export type PlantRecord = { readonly id: bigint; readonly name: string } & {
  readonly [Name in OptionalText]: string | null
}

// Numbers are cheaper than strings to serialize.
export const toRowId = (id: Int64): RowId => exactNumber(id) ?? String(id)

/** The row of a plant, from the service's or a database's form. */
export function toRow(plant: Plant | PlantRecord): PlantRow {
  const row: [RowId, string, ...(string | null)[]] = [toRowId(plant.id), plant.name]
  for (const name of OPTIONAL_TEXTS) row.push(plant[name] ?? null)
  return row
}

/** The plant of a record. */
export const plantOf = (record: PlantRecord): Plant => toNewPlant(record.id, record)

function addTexts<P extends PlantFields>(plant: P, [, , ...texts]: PlantRow): P {
  for (const [place, name] of OPTIONAL_TEXTS.entries()) {
    const text = texts[place]
    if (typeof text === 'string') plant[name] = text
  }
  return plant
}

/** The plant of a row. */
export const toPlant = (row: PlantRow): Plant => addTexts({ id: BigInt(row[0]), name: row[1] }, row)

/** The plant of a row, without its id. */
export const fieldsOf = (row: PlantRow): PlantFields => addTexts({ name: row[1] }, row)

/** True if two rows of one id have the same fields. */
export const isSame = ([, ...texts]: PlantRow, [, ...others]: PlantRow): boolean =>
  texts.every((text, place) => text === others[place])

/** Returns true if a row has these texts; null for none. */
export const hasTexts = ([, ...storedTexts]: PlantRow, texts: ChangedTexts): boolean =>
  TEXT_FIELDS.every(
    (name, place) => texts[name] === undefined || texts[name] === storedTexts[place],
  )

/** A row after a patch (RFC 7396). */
export function patchRow([id, name, ...texts]: PlantRow, patch: ChangedTexts): PlantRow {
  const row: [RowId, string, ...(string | null)[]] = [id, patch.name ?? name]
  for (const [place, text] of OPTIONAL_TEXTS.entries()) {
    row.push(patch[text] === undefined ? (texts[place] ?? null) : patch[text])
  }
  return row
}

/** The row of a new plant with these texts; null without a name. */
export const newRow = (id: RowId, { name, ...texts }: ChangedTexts): PlantRow | null =>
  name === undefined ? null : [id, name, ...OPTIONAL_TEXTS.map((text) => texts[text] ?? null)]
