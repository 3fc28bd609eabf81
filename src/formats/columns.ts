// Rows -> fields: which columns hold the fields of a plant, by what somebody says, by their names, or by a guess.

import { OpenError } from '../errors'
import { readInt64 } from '../plant/json'
import { type Int64, OPTIONAL_TEXTS, type OptionalText, ofOptionalTexts } from '../plant/plant'
import { type Row, showText } from './row'

/** What somebody says of the columns: their texts, or their numbers from 1; null: their usual names. */
export type ColumnOptions = {
  readonly idColumn: string | null
  readonly nameColumn: string | null
  /** The id of the first row, if rows are numbered. */
  readonly numberFrom: Int64 | null
} & { readonly [Name in OptionalText as `${Name}Column`]: string | null }

/** The option of an optional text. */
export const optionOf = <Name extends OptionalText>(name: Name): `${Name}Column` => `${name}Column`

/** A value for the option of each optional text. */
export const ofColumnOptions = <T>(make: (name: OptionalText) => T) =>
  Object.fromEntries(OPTIONAL_TEXTS.map((name) => [optionOf(name), make(name)])) as {
    readonly [Name in OptionalText as `${Name}Column`]: T
  }

/** The columns of the fields, by their places. `id`: null if rows are numbered; an optional text: null if there is none. */
export type Columns = {
  readonly id: number | null
  readonly numberFrom: Int64 | null
  readonly name: number
} & { readonly [Name in OptionalText]: number | null }

/** The places of the columns that are used. */
export const placesOf = (columns: Columns): readonly (number | null)[] => [
  columns.id,
  columns.name,
  ...OPTIONAL_TEXTS.map((name) => columns[name]),
]

/** A guess: options that name the columns as a user would write them. `header`: whether the first row names them. */
export type Guess = ColumnOptions & { readonly nameColumn: string; readonly header: boolean }

/** The columns do not fit: why, and a guess at what was meant; null: there is none. */
export class ColumnsError extends OpenError {
  constructor(
    message: string,
    readonly guess: Guess | null,
  ) {
    super(message)
  }
}

const MAX_LISTED = 12

/** The text of a header's cell that counts: whatever its case, the space around it, and what cannot be seen in it. */
export const normalize = (text: string): string =>
  text
    .replace(/[\p{Cf}\p{Cc}]/gu, '')
    .trim()
    .toLowerCase()

/** A column as users read it: by its place if it has no name. */
const showColumn = (text: string, place: number): string =>
  normalize(text) === '' ? `column ${place + 1}` : showText(text.trim())

/** Columns as users read them. */
export function listColumns(header: readonly string[], places = [...header.keys()]): string {
  const shown = places.slice(0, MAX_LISTED).map((place) => showColumn(header[place] ?? '', place))
  const more = places.length - shown.length
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ')
}

/** The texts of a row's cells in the order of columns. */
export function cellsOf({ cells }: Row, header: readonly string[]): readonly unknown[] {
  if (Array.isArray(cells)) return cells
  return header.map((key) => (cells as Record<string, unknown>)[key])
}

/** The text of a cell, for a guess. */
function textOf(cell: unknown): string {
  if (cell === null || cell === undefined || typeof cell === 'object') {
    return cell && typeof cell === 'object' && 'number' in cell ? String(cell.number) : ''
  }
  return String(cell).trim()
}

// Words of which a column's name is made, as people who keep plants write them.
const ID_WORDS = /^(id|no|nr|number|num|code|sku|key|nummer|numero|numéro|número)$|id$/
const NAME_WORDS: readonly RegExp[] = [
  /^name$/,
  /^(scientific|latin|botanical|accepted|full|plant|taxon) ?name$/,
  /^(species|latin|taxon|cultivar|plant|variety|scientific|botanical|binomial)( name)?$/,
  /^(common|vernacular|german|english) ?name$|^common$|^title$|^label$|^(bezeichnung|pflanze|artikel|nom|nombre|nome|naam|art|sorte)$/,
  /name/,
]
// The column of an optional text that is not listed is found by the text's own name.
const OPTIONAL_WORDS: { readonly [Name in OptionalText]?: readonly RegExp[] } = {
  tag: [
    /^tag$/,
    /^(family|familie|famille|familia|famiglia)$/,
    /^(category|kategorie|catégorie|categoría|type|typ|kind|group|gruppe)$/,
    /^(genus|gattung)$/,
  ],
}

type Pattern = Pick<RegExp, 'test'>

/** The words of a column's name, also of one in camel case or with signs between them. */
const wordsOf = (text: string): string =>
  normalize(text.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2'))
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()

/** The columns whose values are integers in every row and never repeat. */
function isIdColumn(values: readonly string[]): boolean {
  const ids = values.map(readInt64)
  return ids.length > 0 && !ids.includes(null) && new Set(ids).size === ids.length
}

/** How a user names a column: by its text, or by its number if that is not enough. */
export function nameColumn(header: readonly string[], place: number, isNamed: boolean): string {
  if (!isNamed) return String(place + 1)
  const text = (header[place] ?? '').trim()
  const isAlone = header.filter((it) => normalize(it) === normalize(text)).length === 1
  return isAlone && normalize(text) !== '' && /^[\P{C}]+$/u.test(text) ? text : String(place + 1)
}

/** Guesses which columns are meant, from their names and from the values of some rows; null: nothing looks like a name. */
export function guessColumns(
  header: readonly string[],
  sample: readonly Row[],
  isNamed: boolean,
): Guess | null {
  const words = header.map((text) => (isNamed ? wordsOf(text) : ''))
  const values = header.map((_, place) => sample.map((row) => textOf(cellsOf(row, header)[place])))
  const isNumeric = values.map((all) => all.every((it) => /^[\d\s.,%€$£-]*$/.test(it)))
  const find = (patterns: readonly Pattern[], taken: readonly (number | undefined)[]) => {
    for (const pattern of patterns) {
      const place = words.findIndex(
        (it, at) =>
          pattern.test(it) && !taken.includes(at) && (!isNumeric[at] || sample.length === 0),
      )
      if (place >= 0) return place
    }
    return undefined
  }
  const ids = header
    .keys()
    .filter((place) => words[place]?.split(' ').some((it) => ID_WORDS.test(it)))
  const id = ids.find((place) => isIdColumn(values[place] ?? []))
  // The column with the most different texts, if none has a known name.
  const variety = (place: number) =>
    isNumeric[place] || OPTIONAL_TEXTS.some((it) => it === words[place])
      ? 0
      : new Set(values[place]).size
  const [most] = [...header.keys()].toSorted((a, b) => variety(b) - variety(a))
  const name =
    find(NAME_WORDS, [id]) ?? (most !== undefined && variety(most) > 0 ? most : undefined)
  if (name === undefined) return null
  const taken = [id, name]
  const findOptional = (text: OptionalText): string | null => {
    const place = find(OPTIONAL_WORDS[text] ?? [{ test: (it) => it === text }], taken)
    taken.push(place)
    return place === undefined ? null : nameColumn(header, place, isNamed)
  }
  return {
    header: isNamed,
    idColumn: id === undefined ? null : nameColumn(header, id, isNamed),
    numberFrom: id === undefined ? 1n : null,
    nameColumn: nameColumn(header, name, isNamed),
    ...ofColumnOptions(findOptional),
  }
}

/** True if a header is a row of data: a number is no name. */
const isData = (header: readonly string[]): boolean =>
  header.some((text) => /^\s*-?[\d.,]*\d\s*$/.test(text))

/**
 * Finds the columns of a file. `sample`: its first rows, for a guess. `described`: how its columns were told apart, for the
 * message. Throws a {@link ColumnsError} if they do not fit.
 */
export function resolveColumns(
  header: readonly string[],
  sample: readonly Row[],
  options: ColumnOptions,
  isNamed = true,
  described = '',
): Columns {
  const names = header.map((text) => (isNamed ? normalize(text) : ''))
  const fail = (reason: string): never => {
    const first: Row = { line: 1, cells: header }
    const guess =
      isNamed && isData(header)
        ? guessColumns(header, [first, ...sample], false)
        : guessColumns(header, sample, isNamed)
    throw new ColumnsError(`${reason}; found ${listColumns(header)}${described}`, guess)
  }

  /** The place of a column; null: there is none. */
  function find(text: string, isNumber: boolean): number | null {
    const wanted = normalize(text)
    // A key of JSON is the same only in the same case, if it is there in that.
    for (const all of [header, names]) {
      const it = all === header ? text : wanted
      const [place, other] = [all.indexOf(it), all.lastIndexOf(it)]
      if (place < 0 || wanted === '') continue
      if (other === place) return place
      fail(
        `columns ${place + 1} and ${other + 1} are both ${showText(text)}; name one by its number`,
      )
    }
    const number = isNumber && /^\d{1,5}$/.test(wanted) ? Number(wanted) : 0
    return number >= 1 && number <= header.length ? number - 1 : null
  }

  const need = (option: string | null, usual: string): number =>
    (option === null ? find(usual, false) : find(option, true)) ??
    fail(`no column ${showText(option ?? usual)}`)

  const { numberFrom } = options
  // A name that is missing says more of a file than an id.
  const name = need(options.nameColumn, 'name')
  const id = numberFrom === null ? need(options.idColumn, 'id') : null
  const optional = ofOptionalTexts((text) => {
    const option = options[optionOf(text)]
    return option === null ? find(text, false) : need(option, text)
  })
  return { id, numberFrom, name, ...optional }
}
