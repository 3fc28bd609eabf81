// Rows -> a guess at their columns, from the headings and the values of some rows. A doubtful column is left out.

import { readInt64 } from '../plant/json'
import { type OptionalText, ofOptionalTexts } from '../plant/plant'
import {
  type ColumnOptions,
  cellsOf,
  columnReference,
  columnsOfRows,
  hasCells,
  isObject,
  lastKey,
  normalize,
  ofColumnOptions,
  soleText,
  valueAt,
} from './header'
import { isHeadingOf, isKnownHeading, isMeaning, type Meaning } from './headings'
import { KEY } from './json/rows'
import { type FileRow, isRounded } from './row'
import type { Settings, Table } from './table'

/** Options that name the columns as a user would write them. */
export type Guess = ColumnOptions & {
  /** False if the first row is data. */
  readonly header: boolean
  /** The line of the header, if it is not the first row. */
  readonly headerRow: number | null
  /** The path of a list within the rows of JSON, if that has the plants. */
  readonly list?: string
}

/** The settings of a guess that differ from those of its table. */
export function settingsOf(
  { header, headerRow, list }: Guess,
  table: Pick<Table, 'isNamed' | 'list'>,
): Partial<Settings> {
  if (list !== undefined) return { list: table.list === null ? list : `${table.list}.${list}` }
  if (headerRow !== null) return { headerRow }
  return header === table.isNamed ? {} : { hasHeader: header }
}

// Limits the cost of a guess for wide files.
const MAX_COLUMNS = 300
const MAX_HEADER_ROW = 30
/** The share of a column's values that must fit. */
const MIN_SHARE = 0.7

/** The text of a cell, for a guess. */
function textOf(value: unknown): string {
  const cell = soleText(value)
  if (typeof cell === 'object' && cell !== null) return 'number' in cell ? String(cell.number) : ''
  return cell === null || cell === undefined ? '' : String(cell).slice(0, 300).trim()
}
// Texts that are never a plant's name, nor a tag.
const NO_TEXT: readonly RegExp[] = [
  /^(https?|ftp|urn|mailto|file):|^www\./i,
  /@\S+\.\w/,
  // Names of files.
  /^\S+\.(jpe?g|png|gif|webp|tiff?|bmp|heic|svg|pdf|docx?|xlsx?|ods|csv|txt|html?|mp[34]|zip)$/i,
  /[\\/][^\\/ ]+\.\w{2,4}$/,
  /^\{?[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}\}?$/i,
  // Dates, times and numbers.
  /^\d{1,4}[-./]\d{1,2}([-./]\d{1,4})?($|[ T])/,
  /^[^\p{L}]*$/u,
  /^[\d\s.,'+-]+ ?(%|€|\$|£|eur|usd|gbp|cm|mm|m|kg|g|l|ml|st|pcs)\.?$/i,
  // Kinds of places on a map.
  /^(node|way|relation|feature|(multi)?(point|polygon|linestring))$/i,
  /^(true|false|yes|no|ja|nein|oui|non|n\/?a|null|none|-)$/i,
]
// Codes: words of capitals and digits, or a few letters that digits follow.
const CODE = /^[\p{Lu}\d]+([-_./][\p{Lu}\d]+)*$|^\p{L}{1,4}[-_ ]?\d{2,}\S*$|^[\da-f]{16,}$/u
const DIGIT = /\d/

const isText = (text: string): boolean =>
  !NO_TEXT.some((pattern) => pattern.test(text)) && !(DIGIT.test(text) && CODE.test(text))

/** True if most non-empty values of a column fit. */
function mostFit(values: readonly string[], fits: (text: string) => boolean): boolean {
  const nonEmpty = values.filter((text) => text !== '')
  return nonEmpty.length > 0 && nonEmpty.filter(fits).length >= MIN_SHARE * nonEmpty.length
}

const isEpithet = (text: string): boolean => /^[\p{Ll}×][\p{Ll}-]*( [\p{Ll}-]+)?\.?$/u.test(text)
const isGenus = (text: string): boolean => /^[×x]? ?\p{Lu}[\p{Ll}-]+\.?$/u.test(text)
const isFamily = (text: string): boolean => /^\p{Lu}\p{Ll}+(aceae|idae|ales)$/u.test(text)

/** True if most values of a column are integers, without repeats. Totals and headings among the rows may have none. */
function isIdColumn(values: readonly string[]): boolean {
  const isId = (text: string) => readInt64(text) !== null && !isRounded(text)
  const ids = values.filter(isId).map(readInt64)
  return (
    ids.length >= values.length / 2 && mostFit(values, isId) && new Set(ids).size === ids.length
  )
}

/** True for names of columns: the table has columns where others have rows. */
const areHeadings = (values: readonly string[]): boolean => values.filter(isKnownHeading).length > 1

/** The part of a table that a guess is based on. */
type SampleColumns = {
  /** For JSON, the last key of each column. */
  readonly header: readonly string[]
  readonly values: readonly (readonly string[])[]
  readonly isEmpty: boolean
  /** False if the rows are objects of JSON. */
  readonly isTable: boolean
  /** True if all rows have equally many cells. */
  readonly isEven: boolean
}

type Texts = readonly (readonly string[])[]

const textsOf = (header: readonly string[], sample: readonly FileRow[]): Texts =>
  sample.map((row) => cellsOf(row, header).slice(0, MAX_COLUMNS).map(textOf))

function columnsOfTexts(header: readonly string[], rows: Texts, isTable: boolean): SampleColumns {
  const visibleHeader = header.slice(0, MAX_COLUMNS)
  return {
    header: isTable ? visibleHeader : visibleHeader.map(lastKey),
    values: visibleHeader.map((_, column) => rows.map((row) => row[column] ?? '')),
    isEmpty: rows.length === 0,
    isTable,
    isEven: rows.every(({ length }) => length === rows[0]?.length),
  }
}

/** The first column with such a heading, whose values fit. */
function findColumn(
  { header, values, isEmpty }: SampleColumns,
  meanings: readonly Meaning[],
  usedColumns: readonly (number | null)[],
  fits: (values: readonly string[]) => boolean = (column) => mostFit(column, isText),
): number | null {
  for (const meaning of meanings) {
    const column = header.findIndex(
      (heading, index) =>
        isHeadingOf(meaning, heading) &&
        !usedColumns.includes(index) &&
        (isEmpty || fits(values[index] ?? [])),
    )
    if (column >= 0) return column
  }
  return null
}

const findGenus = (sampleColumns: SampleColumns, usedColumns: readonly (number | null)[]) =>
  findColumn(sampleColumns, ['genus'], usedColumns, (column) => mostFit(column, isGenus))

/** The columns of a genus, a species and, if there is one, a cultivar; null: the species stands alone. */
function findNameParts(
  sampleColumns: SampleColumns,
  usedColumns: readonly (number | null)[],
): number[] | null {
  const genus = findGenus(sampleColumns, usedColumns)
  const epithet = findColumn(sampleColumns, ['epithet'], usedColumns, (column) =>
    mostFit(column, isEpithet),
  )
  if (genus === null || epithet === null) return null
  const cultivar = findColumn(sampleColumns, ['cultivar'], usedColumns)
  return cultivar === null ? [genus, epithet] : [genus, epithet, cultivar]
}

/** The column of the keys that lead to the rows of JSON, if they are names. */
function findKeyColumn(
  { header, values, isTable }: SampleColumns,
  usedColumns: readonly (number | null)[],
) {
  const column = isTable ? -1 : header.indexOf(KEY)
  const keys = values[column] ?? []
  const others = header.filter((_, index) => index !== column)
  // The keys of columns, whose rows are numbered.
  const areNumbers = others.length > 0 && others.every((key) => /^\d+$/.test(key))
  const areColumns = areNumbers || areHeadings(keys)
  return !areColumns && !usedColumns.includes(column) && mostFit(keys, isText) ? column : null
}

function findName(
  sampleColumns: SampleColumns,
  usedColumns: readonly (number | null)[],
): number[] | null {
  const { header, values, isEmpty } = sampleColumns
  const exact = header.findIndex((heading) => normalize(heading) === 'name')
  // Pairs of a name and a value describe one thing in several rows.
  if (exact >= 0 && header.some((heading) => normalize(heading) === 'value')) return null
  if (exact >= 0 && (isEmpty || mostFit(values[exact] ?? [], isText))) return [exact]
  const whole = findColumn(sampleColumns, ['scientific', 'name'], usedColumns)
  if (whole !== null) return [whole]
  const parts = findNameParts(sampleColumns, usedColumns)
  if (parts !== null) return parts
  // A species of several words is a whole name.
  const isWhole = (column: readonly string[]) =>
    mostFit(column, (text) => isText(text) && /^\p{Lu}\S* ./u.test(text))
  const species = isEmpty ? null : findColumn(sampleColumns, ['epithet'], usedColumns, isWhole)
  const hasSpecies = header.some((heading) => isHeadingOf('epithet', heading))
  const column =
    species ??
    findColumn(sampleColumns, ['common'], usedColumns) ??
    findKeyColumn(sampleColumns, usedColumns) ??
    (hasSpecies ? null : findGenus(sampleColumns, usedColumns))
  return column === null ? null : [column]
}

/** True for numbers that count from 1, or rise from row to row: two of them may rise by chance. */
const areRising = (values: readonly string[]): boolean =>
  values.every((text, row) => Number(text) === row + 1) ||
  (values.length > 2 &&
    values.every((text, row) => row === 0 || Number(text) > Number(values[row - 1])))

/**
 * The columns of a table without headings: the name is the only text, but for the family of a plant, or beside ids the only
 * one that each row has; ids rise before it.
 */
function findUnnamed({ values, isEven }: SampleColumns) {
  const valuesOf = (column: number): readonly string[] => values[column] ?? []
  const texts = [...values.keys()].filter((column) => mostFit(valuesOf(column), isText))
  const families = texts.filter((column) => mostFit(valuesOf(column), isFamily))
  const names = texts.filter((column) => !families.includes(column))
  const id = isIdColumn(valuesOf(0)) && areRising(valuesOf(0)) ? 0 : null
  const filled = names.filter((column) => !valuesOf(column).includes(''))
  const isBesideTag = id !== null && isEven && values.length === 3 && filled.length === 1
  const name = isBesideTag ? filled : names
  const tag = families[0] ?? (isBesideTag ? names.find((column) => !name.includes(column)) : null)
  const isName = name.length === 1 && !values.some(areHeadings)
  return { id, name: isName ? name : null, ...ofOptionalTexts(() => null), tag: tag ?? null }
}

/** The column of an optional text: by its known headings, or by its own name. */
function findOptionalText(
  sampleColumns: SampleColumns,
  text: OptionalText,
  usedColumns: readonly (number | null)[],
) {
  if (isMeaning(text)) return findColumn(sampleColumns, [text], usedColumns)
  const column = sampleColumns.header.findIndex(
    (heading, index) => normalize(heading) === text && !usedColumns.includes(index),
  )
  return column < 0 ? null : column
}

/** True if the only known heading is a word that may be a part of a name, as in "Holly, common". */
const isPartOfName = ({ header, isTable }: SampleColumns): boolean =>
  isTable && header.length > 1 && header.filter(isKnownHeading).map(normalize).join() === 'common'

/** The columns of a table with headings. */
function findNamed(sampleColumns: SampleColumns) {
  const id = findColumn(sampleColumns, ['id'], [], isIdColumn)
  const name = isPartOfName(sampleColumns) ? null : findName(sampleColumns, [id])
  // A genus may be the name that is not certain.
  const usedColumns = [id, ...(name ?? [findGenus(sampleColumns, [id])])]
  const optional = ofOptionalTexts((text) => {
    const column = findOptionalText(sampleColumns, text, usedColumns)
    usedColumns.push(column)
    return column
  })
  return { id, name, ...optional }
}

function guessTexts(
  header: readonly string[],
  rows: Texts,
  isTable: boolean,
  isNamed: boolean,
): Guess {
  const sampleColumns = columnsOfTexts(header, rows, isTable)
  const show = (column: number) => columnReference(header, column, isNamed)
  const { id, name, ...optional } = isNamed ? findNamed(sampleColumns) : findUnnamed(sampleColumns)
  return {
    header: isNamed,
    headerRow: null,
    idColumn: id === null ? null : show(id),
    numberFrom: id === null ? 1n : null,
    nameColumn: name?.map(show) ?? null,
    ...ofColumnOptions((text) => (optional[text] === null ? null : show(optional[text]))),
  }
}

/** Guesses the columns. A field without a convincing column is null. */
export const guessColumns = (
  header: readonly string[],
  sample: readonly FileRow[],
  isNamed: boolean,
): Guess =>
  guessTexts(header, textsOf(header.slice(0, MAX_COLUMNS), sample), hasCells(sample), isNamed)

const YEAR = /^(1[5-9]|20)\d\d$/

/** A header that is a row of data: one of its cells is a number, but for a year. */
const isData = (header: readonly string[]): boolean =>
  header.some((text) => /^\s*-?[\d.,]*\d\s*$/.test(text) && !YEAR.test(text.trim()))

const MAX_TITLES = 5
/** Comments, and labels of a text beside them. */
const COMMENT = /^\s*#\s*\p{L}|:\s*$/u
const MAX_WORDS = 5
const PAIR = 2

/** True for a year or a sentence, which names no plant. */
const isNoPlant = (text: string): boolean =>
  text.split(/\s+/).length > MAX_WORDS || text.split(/\W+/).some((word) => YEAR.test(word))

const filledOf = (texts: readonly string[]): readonly string[] =>
  texts.filter((text) => normalize(text) !== '')

/** True for headings of groups of columns: they stand above some of the columns. */
const areGroups = (row: readonly string[], header: readonly string[]): boolean =>
  filledOf(row).length > 1 &&
  filledOf(row).every(isText) &&
  header.some((heading, column) => heading !== '' && normalize(row[column] ?? '') === '')

/** True for a label and its text, such as a date, where the table has more columns. */
const isLabel = (texts: readonly string[], header: readonly string[]): boolean =>
  texts.length === PAIR && isText(texts[0] ?? '') && filledOf(header).length > PAIR

/**
 * True if the rows above a header are titles or comments: a plant above it would be lost. `isKnown`: the header has known
 * headings; without them, a title may be no plant's name.
 */
function areTitles(rows: Texts, header: readonly string[], isKnown: boolean): boolean {
  const lastRow = rows.at(-1) ?? []
  const others = isKnown && areGroups(lastRow, header) ? rows.slice(0, -1) : rows
  const titles = others.map(filledOf).filter(([first = '']) => first !== '' && !COMMENT.test(first))
  const pairs = titles.filter(({ length }) => length > 1)
  // A plant has no date for a tag.
  const areLabels =
    isKnown &&
    pairs.every((pair) => isLabel(pair, header)) &&
    pairs.some(([, text = '']) => !isText(text) && !isData([text]))
  const unsure = titles.filter(([title = '']) => !isNoPlant(title))
  return (pairs.length === 0 || areLabels) && unsure.length <= (isKnown ? MAX_TITLES : 0)
}

/** The index of the header's row below titles or comments; null: it is the first row, or not certain. */
function findHeader(rows: Texts, guesses: readonly Guess[]): number | null {
  const namedIndex = guesses.findIndex(({ nameColumn: name }) => name !== null)
  // Without known headings, the header is the first of the widest rows, after narrower ones.
  const widths = rows.map((row) => filledOf(row).length)
  const index = namedIndex >= 0 ? namedIndex : widths.indexOf(Math.max(...widths))
  const header = rows[index] ?? []
  if (index < 1 || filledOf(header).length < 2 || isData(header)) return null
  // A word such as "common" may be a part of a name.
  const isKnown = header.filter(isKnownHeading).length > 1
  return areTitles(rows.slice(0, index), header, isKnown) ? index : null
}

/** The guess at the header's row; null: there is none below the first. */
function guessHeader(
  header: readonly string[],
  sample: readonly FileRow[],
  own: Guess,
): Guess | null {
  const all = textsOf(header, sample)
  const rows = all.slice(0, MAX_HEADER_ROW)
  const guesses = rows.map((row, index) =>
    row.some(isKnownHeading) ? guessTexts(row, all.slice(index + 1), true, true) : own,
  )
  const index = findHeader([header.slice(0, MAX_COLUMNS), ...rows], [own, ...guesses])
  if (index === null) return null
  const line = sample[index - 1]?.line ?? 0
  // The rows of JSON may share a line.
  const isAlone = sample.filter((row) => row.line === line).length === 1
  return isAlone
    ? { ...guessTexts(rows[index - 1] ?? [], all.slice(index), true, true), headerRow: line }
    : null
}

/** A list within the rows of JSON that has plants, where the rows have none. */
function guessList(
  header: readonly string[],
  sample: readonly FileRow[],
  own: Guess,
): Guess | null {
  for (const list of header.slice(0, MAX_COLUMNS)) {
    const rows = sample.flatMap(({ line, cells }) => {
      const value = valueAt(cells, list)
      return Array.isArray(value) ? value.filter(isObject).map((cells) => ({ line, cells })) : []
    })
    const inner = guessColumns(columnsOfRows(rows), rows, true)
    const isBetter = own.nameColumn === null || (own.idColumn === null && inner.idColumn !== null)
    if (inner.nameColumn !== null && isBetter) return { ...own, list }
  }
  return null
}

/**
 * Guesses the columns of a table whose header has none of the usual names: it may be in another row, or there may be none,
 * or the rows have a list of the plants.
 */
export function guessTable(
  header: readonly string[],
  sample: readonly FileRow[],
  isNamed: boolean,
): Guess {
  const own = guessColumns(header, sample, isNamed)
  if (!hasCells(sample)) return guessList(header, sample, own) ?? own
  if (!isNamed || own.nameColumn !== null) return own
  const below = guessHeader(header, sample, own)
  if (below) return below
  if (!isData(header)) return own
  return guessColumns(header, [{ line: 1, cells: header }, ...sample], false)
}
