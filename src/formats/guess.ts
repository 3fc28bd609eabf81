// Rows -> a guess at their columns, from the headings and the values of some rows. A doubtful column is left out.

import { readInt64 } from '../plant/json'
import { ofOptionalTexts } from '../plant/plant'
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
import type { Settings } from './question'
import { type FileRow, isRounded } from './row'
import type { Table } from './table'

/** The settings that a table seems to need, and its columns; null if they show only once it is opened so. */
export type Guess = {
  readonly settings: Pick<Partial<Settings>, 'header' | 'headerRow' | 'list'>
  readonly columns: ColumnOptions | null
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
  /^(true|false|yes|no|ja|nein|oui|non|n\/?a|null|none|-)$/i,
]
// Codes: words of capitals and digits, or a few letters that digits follow.
const CODE = /^[\p{Lu}\d]+([-_./][\p{Lu}\d]+)*$|^\p{L}{1,4}[-_ ]?\d{2,}\S*$|^[\da-f]{16,}$/u
const DIGIT = /\d/

const isText = (text: string): boolean =>
  !NO_TEXT.some((pattern) => pattern.test(text)) && !(DIGIT.test(text) && CODE.test(text))

type Fits = (values: readonly string[]) => boolean

/** A test that most non-empty values of a column fit. A table without rows is known by its headings. */
const most =
  (fits: (text: string) => boolean): Fits =>
  (values) => {
    const filled = values.filter((text) => text !== '')
    const count = filled.filter(fits).length
    return values.length === 0 || (count > 0 && count >= MIN_SHARE * filled.length)
  }

const areTexts = most(isText)
const areEpithets = most((text) => /^[\p{Ll}×][\p{Ll}-]*( [\p{Ll}-]+)?\.?$/u.test(text))
const areGenera = most((text) => /^[×x]? ?\p{Lu}[\p{Ll}-]+\.?$/u.test(text))
const areFamilies = most((text) => /^\p{Lu}\p{Ll}+(aceae|idae|ales)$/u.test(text))
/** A species of several words is a whole name. */
const areWholeNames = most((text) => isText(text) && /^\p{Lu}\S* ./u.test(text))

const isId = (text: string): boolean => readInt64(text) !== null && !isRounded(text)

/** True if most values are integers, without repeats. Totals and headings among the rows may have none. */
function areIds(values: readonly string[]): boolean {
  const ids = values.filter(isId).map(readInt64)
  return ids.length >= values.length / 2 && most(isId)(values) && new Set(ids).size === ids.length
}

/** True for ids that count from 1, or rise from row to row: two of them may rise by chance. */
const areRising = (ids: readonly string[]): boolean =>
  ids.every((text, row) => Number(text) === row + 1) ||
  (ids.length > 2 && ids.every((text, row) => row === 0 || Number(text) > Number(ids[row - 1])))

/** True for names of columns: the table has columns where others have rows. */
const areHeadings: Fits = (values) => values.filter(isKnownHeading).length > 1

type Texts = readonly (readonly string[])[]

/** The rows of a table that a guess is based on. Each column belongs to one field. */
class Sample {
  /** For JSON, the last key of each column. */
  readonly header: readonly string[]
  readonly used = new Set<number | null>()

  /** `isTable`: false if the rows are objects of JSON. */
  constructor(
    header: readonly string[],
    readonly rows: Texts,
    readonly isTable: boolean,
  ) {
    const visible = header.slice(0, MAX_COLUMNS)
    this.header = isTable ? visible : visible.map(lastKey)
  }

  values(column: number): readonly string[] {
    return this.rows.map((row) => row[column] ?? '')
  }

  /** The first unused column whose heading and values fit. */
  #find(matches: (heading: string) => boolean, fits: Fits): number | null {
    const column = this.header.findIndex(
      (heading, at) => matches(heading) && !this.used.has(at) && fits(this.values(at)),
    )
    return column < 0 ? null : column
  }

  find(meaning: Meaning, fits: Fits = areTexts): number | null {
    return this.#find((heading) => isHeadingOf(meaning, heading), fits)
  }

  findNamed(name: string, fits: Fits = () => true): number | null {
    return this.#find((heading) => normalize(heading) === name, fits)
  }
}

/** The columns of a genus, a species and, if there is one, a cultivar, or null if the species stands alone. */
function findNameParts(sample: Sample): number[] | null {
  const parts = [sample.find('genus', areGenera), sample.find('epithet', areEpithets)]
  return parts.includes(null)
    ? null
    : [...parts, sample.find('cultivar')].filter((column) => column !== null)
}

/** The column of the keys that lead to the rows of JSON, if they are names. */
function findKeys(sample: Sample): number | null {
  const column = sample.isTable ? null : sample.findNamed(KEY, areTexts)
  const others = sample.header.filter((_, index) => index !== column)
  // The keys of columns, whose rows are numbered.
  const areNumbers = others.length > 0 && others.every((key) => /^\d+$/.test(key))
  return column === null || areNumbers || areHeadings(sample.values(column)) ? null : column
}

function findName(sample: Sample): readonly number[] | null {
  const { header, isTable } = sample
  const known = header.filter(isKnownHeading).map(normalize)
  // "Holly, common": the word may be a part of a name.
  if (isTable && header.length > 1 && known.join() === 'common') return null
  const exact = sample.findNamed('name', areTexts)
  // Pairs such as "species" and its value describe one thing in several rows.
  const arePairs = exact !== null && sample.findNamed('value') !== null
  if (arePairs && sample.values(exact).some(isKnownHeading)) return null
  if (exact !== null) return [exact]
  const whole = sample.find('scientific') ?? sample.find('name')
  const parts = whole === null ? findNameParts(sample) : [whole]
  if (parts) return parts
  const isAlone = !header.some((heading) => isHeadingOf('epithet', heading))
  const column =
    sample.find('epithet', areWholeNames) ??
    sample.find('common') ??
    findKeys(sample) ??
    (isAlone ? sample.find('genus', areGenera) : null)
  return column === null ? null : [column]
}

/** The columns of a table with headings. */
function findNamed(sample: Sample) {
  const use = (column: number | null) => {
    sample.used.add(column)
    return column
  }
  const id = use(sample.find('id', areIds))
  const name = findName(sample)
  // A genus may be the name that is not certain.
  for (const column of name ?? [sample.find('genus', areGenera)]) use(column)
  const optional = ofOptionalTexts((text) =>
    use(isMeaning(text) ? sample.find(text) : sample.findNamed(text)),
  )
  return { id, name, ...optional }
}

/**
 * The columns of a table without headings: the name is the only text, but for the family of a plant, or beside ids the only
 * one that each row has; ids rise before it.
 */
function findUnnamed(sample: Sample) {
  const { rows, header } = sample
  const columns = [...header.keys()]
  const texts = columns.filter((column) => areTexts(sample.values(column)))
  const families = texts.filter((column) => areFamilies(sample.values(column)))
  const names = texts.filter((column) => !families.includes(column))
  const ids = sample.values(0)
  const id = areIds(ids) && areRising(ids) ? 0 : null
  const filled = names.filter((column) => !sample.values(column).includes(''))
  // The cells of three columns in each row: a comma in a name makes rows of different lengths.
  const isBesideTag = id !== null && filled.length === 1 && rows.every(({ length }) => length === 3)
  const name = isBesideTag ? filled : names
  const tag = families[0] ?? (isBesideTag ? names.find((column) => !name.includes(column)) : null)
  const isName = name.length === 1 && !columns.some((column) => areHeadings(sample.values(column)))
  return { id, name: isName ? name : null, ...ofOptionalTexts(() => null), tag: tag ?? null }
}

function guessTexts(
  header: readonly string[],
  rows: Texts,
  isTable: boolean,
  isNamed: boolean,
): ColumnOptions {
  const sample = new Sample(header, rows, isTable)
  const show = (column: number) => columnReference(header, column, isNamed)
  const { id, name, ...optional } = isNamed ? findNamed(sample) : findUnnamed(sample)
  return {
    idColumn: id === null ? null : show(id),
    numberFrom: id === null ? 1n : null,
    nameColumn: name?.map(show) ?? null,
    ...ofColumnOptions((text) => (optional[text] === null ? null : show(optional[text]))),
  }
}

const textsOf = (header: readonly string[], rows: readonly FileRow[]): Texts =>
  rows.map((row) => cellsOf(row, header.slice(0, MAX_COLUMNS)).slice(0, MAX_COLUMNS).map(textOf))

/** Guesses the columns. A field without a convincing column is null. */
export const guessColumns = (
  header: readonly string[],
  rows: readonly FileRow[],
  isNamed: boolean,
): ColumnOptions => guessTexts(header, textsOf(header, rows), hasCells(rows), isNamed)

const YEAR = /^(1[5-9]|20)\d\d$/

/** A header that is a row of data: one of its cells is a number, but for a year. */
const isData = (header: readonly string[]): boolean =>
  header.some((text) => /^\s*-?[\d.,]*\d\s*$/.test(text) && !YEAR.test(text.trim()))

const MAX_TITLES = 5
/** Comments, and labels of a text beside them. */
const COMMENT = /^\s*#\s*\p{L}|:\s*$/u
const MAX_WORDS = 5

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

/**
 * True if the rows above a header are titles or comments: a plant above it would be lost. `isKnown`: the header has known
 * headings; without them, a title may be no plant's name.
 */
function areTitles(rows: Texts, header: readonly string[], isKnown: boolean): boolean {
  const others = isKnown && areGroups(rows.at(-1) ?? [], header) ? rows.slice(0, -1) : rows
  const titles = others.map(filledOf).filter(([first = '']) => first !== '' && !COMMENT.test(first))
  const pairs = titles.filter(({ length }) => length > 1)
  // Labels and their texts, where the table has more columns: no plant has a date for a tag.
  const areLabels =
    isKnown &&
    filledOf(header).length > 2 &&
    pairs.every(({ length, 0: label = '' }) => length === 2 && isText(label)) &&
    pairs.some(([, text = '']) => !isText(text) && !isData([text]))
  const unsure = titles.filter(([title = '']) => !isNoPlant(title))
  return (pairs.length === 0 || areLabels) && unsure.length <= (isKnown ? MAX_TITLES : 0)
}

/** The index of the header's row below titles or comments, or null if it is the first row, or not certain. */
function findHeader(rows: Texts, guesses: readonly ColumnOptions[]): number | null {
  const named = guesses.findIndex(({ nameColumn: name }) => name !== null)
  // Without known headings, the header is the first of the widest rows, after narrower ones.
  const widths = rows.map((row) => filledOf(row).length)
  const index = named >= 0 ? named : widths.indexOf(Math.max(...widths))
  const header = rows[index] ?? []
  if (index < 1 || filledOf(header).length < 2 || isData(header)) return null
  // A word such as "common" may be a part of a name.
  const isKnown = header.filter(isKnownHeading).length > 1
  return areTitles(rows.slice(0, index), header, isKnown) ? index : null
}

/** The guess with the header's row, or null if there is none below the first. */
function guessHeader(
  header: readonly string[],
  rows: readonly FileRow[],
  own: ColumnOptions,
): Guess | null {
  const texts = textsOf(header, rows)
  const first = texts.slice(0, MAX_HEADER_ROW)
  const guessAt = (at: number) => guessTexts(first[at] ?? [], texts.slice(at + 1), true, true)
  const guesses = first.map((row, at) => (row.some(isKnownHeading) ? guessAt(at) : own))
  const index = findHeader([header.slice(0, MAX_COLUMNS), ...first], [own, ...guesses])
  if (index === null) return null
  const headerRow = rows[index - 1]?.line ?? 0
  // Rows of JSON may share a line.
  const isAlone = rows.filter(({ line }) => line === headerRow).length === 1
  return isAlone ? { settings: { headerRow }, columns: guessAt(index - 1) } : null
}

/** The path of a list with plants within the rows of JSON, if the rows have none; undefined if there is no such list. */
function findList(header: readonly string[], rows: readonly FileRow[], own: ColumnOptions) {
  return header.slice(0, MAX_COLUMNS).find((path) => {
    const inner = rows.flatMap(({ line, cells }) =>
      [valueAt(cells, path)]
        .filter(Array.isArray)
        .flatMap((values) => values.filter(isObject).map((cells) => ({ line, cells }))),
    )
    const { nameColumn, idColumn } = guessColumns(columnsOfRows(inner), inner, true)
    const isBetter = own.nameColumn === null || (own.idColumn === null && idColumn !== null)
    return nameColumn !== null && isBetter
  })
}

/** An opened table, whose rows are not read yet. */
export type TableHeader = Omit<Table, 'lines'>

/**
 * Guesses the columns of a table whose header has none of the usual names: it may be in another row, or there may be none,
 * or the rows have a list of the plants.
 */
export function guessTable({ header, sample, isNamed, isKeyed, list }: TableHeader): Guess {
  const own = guessColumns(header, sample, isNamed)
  const guess = { settings: {}, columns: own }
  if (isKeyed) {
    const inner = findList(header, sample, own)
    if (inner === undefined) return guess
    return { settings: { list: list === null ? inner : `${list}.${inner}` }, columns: null }
  }
  if (!isNamed || own.nameColumn !== null) return guess
  const below = guessHeader(header, sample, own)
  if (below || !isData(header)) return below ?? guess
  const columns = guessColumns(header, [{ line: 1, cells: header }, ...sample], false)
  return { settings: { header: false }, columns }
}
