// Rows -> a guess at their columns, from the headings and the values of some rows. A doubtful column is left out.

import { readInt64 } from '../plant/json'
import { type OptionalText, ofOptionalTexts } from '../plant/plant'
import { type ColumnOptions, cellsOf, columnReference, normalize, ofColumnOptions } from './header'
import { isHeadingOf, isKnownHeading, isMeaning, type Meaning } from './headings'
import { KEY } from './json/rows'
import type { FileRow } from './row'

/** Options that name the columns as a user would write them. */
export type Guess = ColumnOptions & {
  /** False if the first row is data. */
  readonly header: boolean
  /** The line of the header, if it is not the first row. */
  readonly headerRow: number | null
}

// Limits the cost of a guess for wide and long files.
const MAX_COLUMNS = 300
const MAX_ROWS = 100
const MAX_HEADER_ROW = 30
/** The share of a column's values that must fit. */
const MIN_SHARE = 0.7

/** The text of a cell, for a guess. */
function textOf(cell: unknown): string {
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
  const ids = values.map(readInt64).filter((id) => id !== null)
  const isFilled = ids.length >= values.length / 2
  return (
    isFilled &&
    mostFit(values, (text) => readInt64(text) !== null) &&
    new Set(ids).size === ids.length
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
  /** False for JSON. */
  readonly isTable: boolean
}

function sampleOf(header: readonly string[], rows: readonly FileRow[]): SampleColumns {
  const visibleHeader = header.slice(0, MAX_COLUMNS)
  const cells = rows.slice(0, MAX_ROWS).map((row) => cellsOf(row, visibleHeader))
  const values = visibleHeader.map((_, column) => cells.map((row) => textOf(row[column])))
  const isTable = rows.every((row) => Array.isArray(row.cells))
  const headings = isTable
    ? visibleHeader
    : visibleHeader.map((column) => column.slice(column.lastIndexOf('.') + 1))
  return { header: headings, values, isEmpty: rows.length === 0, isTable }
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

/** The columns of a genus, a species and, if there is one, a cultivar; null: the species stands alone. */
function findNameParts(
  sampleColumns: SampleColumns,
  usedColumns: readonly (number | null)[],
): number[] | null {
  const genus = findColumn(sampleColumns, ['genus'], usedColumns, (column) =>
    mostFit(column, isGenus),
  )
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
  const exact = sampleColumns.header.findIndex((heading) => normalize(heading) === 'name')
  const isExact =
    exact >= 0 && (sampleColumns.isEmpty || mostFit(sampleColumns.values[exact] ?? [], isText))
  if (isExact) return [exact]
  const whole = findColumn(sampleColumns, ['scientific', 'name'], usedColumns)
  if (whole !== null) return [whole]
  const parts = findNameParts(sampleColumns, usedColumns)
  if (parts !== null) return parts
  // A species of several words is a whole name.
  const isWhole = (column: readonly string[]) =>
    mostFit(column, (text) => isText(text) && /^\p{Lu}\S* ./u.test(text))
  const species = sampleColumns.isEmpty
    ? null
    : findColumn(sampleColumns, ['epithet'], usedColumns, isWhole)
  const column =
    species ??
    findColumn(sampleColumns, ['common'], usedColumns) ??
    findKeyColumn(sampleColumns, usedColumns)
  return column === null ? null : [column]
}

/** True for numbers that rise from row to row: two of them may rise by chance. */
const areRising = (values: readonly string[]): boolean =>
  values.length > 2 &&
  values.every((text, row) => row === 0 || Number(text) > Number(values[row - 1]))

/**
 * The columns of a table without headings: the name is the only text, but for the family of a plant; ids rise before
 * it.
 */
function findUnnamed({ values }: SampleColumns) {
  const texts = [...values.keys()].filter((column) => mostFit(values[column] ?? [], isText))
  const families = texts.filter((column) => mostFit(values[column] ?? [], isFamily))
  const names = texts.filter((column) => !families.includes(column))
  const name = names.length === 1 && !values.some(areHeadings) ? names : null
  const first = values[0] ?? []
  const id = isIdColumn(first) && areRising(first) ? 0 : null
  return { id, name, ...ofOptionalTexts(() => null), tag: families[0] ?? null }
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
  const usedColumns = [id, ...(name ?? [])]
  const optional = ofOptionalTexts((text) => {
    const column = findOptionalText(sampleColumns, text, usedColumns)
    usedColumns.push(column)
    return column
  })
  return { id, name, ...optional }
}

/** Guesses the columns. A field without a convincing column is null. */
export function guessColumns(
  header: readonly string[],
  sample: readonly FileRow[],
  isNamed: boolean,
): Guess {
  const sampleColumns = sampleOf(header, sample)
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

/** A header that is a row of data: one of its cells is a number. */
const isData = (header: readonly string[]): boolean =>
  header.some((text) => /^\s*-?[\d.,]*\d\s*$/.test(text))

const countFilled = (texts: readonly string[]): number =>
  texts.filter((text) => normalize(text) !== '').length

const MAX_TITLES = 5
/** Comments, and labels of a text beside them. */
const COMMENT = /^\s*#\s*\p{L}|:\s*$/u
const YEAR = /^\d{4}$/
const MAX_WORDS = 5

/** True for a year or a sentence, which names no plant. */
const isNoPlant = (text: string): boolean =>
  text.split(/\s+/).length > MAX_WORDS || text.split(/\W+/).some((word) => YEAR.test(word))

/** True if rows are titles or comments: a plant above a header would be lost. `isSure`: only if they name no plant. */
function areTitles(rows: readonly (readonly string[])[], isSure: boolean): boolean {
  const texts = rows.map((row) => row.filter((text) => normalize(text) !== ''))
  const titles = texts.filter(([first = '']) => first !== '' && !COMMENT.test(first))
  const unsure = titles.filter(([title = '']) => !isNoPlant(title))
  return titles.every(({ length }) => length === 1) && unsure.length <= (isSure ? 0 : MAX_TITLES)
}

/** The index of the header's row below titles or comments; null: it is the first row, or not certain. */
function findHeader(
  rows: readonly (readonly string[])[],
  guesses: readonly Guess[],
): number | null {
  const namedIndex = guesses.findIndex(({ nameColumn: name }) => name !== null)
  // Without known headings, the header is the first of the widest rows, after narrower ones.
  const widest = Math.max(...rows.map(countFilled))
  const index = namedIndex >= 0 ? namedIndex : rows.findIndex((row) => countFilled(row) === widest)
  const header = rows[index] ?? []
  if (index < 1 || countFilled(header) < 2 || isData(header)) return null
  // A word such as "common" may be a part of a name.
  const isKnown = header.filter(isKnownHeading).length > 1
  return areTitles(rows.slice(0, index), !isKnown) ? index : null
}

/** Guesses the columns of a table whose header has none of the usual names: it may be in another row, or there may be none. */
export function guessTable(
  header: readonly string[],
  sample: readonly FileRow[],
  isNamed: boolean,
): Guess {
  const own = guessColumns(header, sample, isNamed)
  const isTable = sample.every(({ cells }) => Array.isArray(cells))
  if (!isNamed || own.nameColumn !== null || !isTable) return own
  const rows = sample.slice(0, MAX_HEADER_ROW)
  const texts = rows.map((row) => cellsOf(row, header).slice(0, MAX_COLUMNS).map(textOf))
  const guesses = texts.map((header, index) => guessColumns(header, sample.slice(index + 1), true))
  const index = findHeader([[...header], ...texts], [own, ...guesses])
  const [guess, row] = index === null ? [] : [guesses[index - 1], rows[index - 1]]
  if (guess && row) return { ...guess, headerRow: row.line }
  if (!isData(header)) return own
  return guessColumns(header, [{ line: 1, cells: header }, ...sample], false)
}
