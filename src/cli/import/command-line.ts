// The command lines that an import proposes: for the same file with other options, and for the rows that it refused.

import type { Config } from '../../config/config'
import { OPTIONS, type OptionName, toFlag } from '../../config/options'
import { withoutPassword } from '../../engine/database-url'
import { type Columns, placesOf } from '../../formats/columns'
import { formatToRead } from '../../formats/format'
import type { Guess } from '../../formats/guess'
import { ofColumnOptions, optionOf } from '../../formats/header'
import type { RefusedWriter } from '../../formats/refused'
import { OPTION_WORDS, type Words } from '../../formats/words'
import { OPTIONAL_TEXTS } from '../../plant/plant'
import { quote } from '../../program'

/** The options of `import` for reading a file. */
export const READING = [
  'format',
  'sheet',
  'list',
  'header',
  'headerRow',
  'delimiter',
  'encoding',
] as const
export const COLUMNS = ['idColumn', 'nameColumn', ...OPTIONAL_TEXTS.map(optionOf)] as const

/** The options of `import` for storing its plants. */
const STORING = ['dryRun', 'refused', 'strict', 'replace', 'database'] as const

type Values = Partial<Record<OptionName, unknown>>

/** Options as words of a command line, without those that have their default. */
function wordsOf(values: Values): string[] {
  return Object.entries(values).flatMap(([key, value]) => {
    const name = key as OptionName
    const flag = toFlag(name)
    if (value === null || value === undefined || value === OPTIONS[name].default) return []
    if (Array.isArray(value)) return value.flatMap((text) => [flag, quote(text)])
    if (typeof value === 'boolean') return [flag]
    return [flag, quote(value === '\t' ? 'tab' : String(value))]
  })
}

const pick = (config: Config, names: readonly OptionName[]): Values =>
  Object.fromEntries(names.map((name) => [name, config[name]]))

/** The storing options of an import, for the proposed command line. */
const storing = (config: Config): Values => ({
  ...pick(config, STORING),
  database: withoutPassword(config.database),
})

/** The command line that imports a file with other columns. */
export function commandLine(path: string, config: Config, columns: Values): string {
  const words = wordsOf({ ...pick(config, READING), ...columns, ...storing(config) })
  return ['plantstore import', quote(path), ...words].join(' ')
}

/** Stands in a proposed command line for a column that only the user knows. */
const UNKNOWN = 'COLUMN'
/** Stands in it for an encoding that only the user knows. */
const UNKNOWN_ENCODING = 'ENCODING'

const usual = (column: string | null, name: string) => (column === name ? null : column)

/** The columns that the user named, without those that the file does not have. */
function existingColumns(config: Config, header: readonly string[]) {
  const isColumn = (column: string) => placesOf(header, column, true, config.header).length === 1
  const keep = (column: string | null) => (column !== null && isColumn(column) ? column : null)
  return {
    idColumn: keep(config.idColumn),
    nameColumn: config.nameColumn?.every(isColumn) ? config.nameColumn : null,
    ...ofColumnOptions((name) => keep(config[optionOf(name)])),
  }
}

/** The options of a guess; those that the user has set win. `header`: the first row, as it was read. */
export function guessOptions(guess: Guess, config: Config, header: readonly string[]): Values {
  // In another header, or without one, the columns of the user may be right.
  const isSame = guess.headerRow === null && guess.header === config.header
  const own = isSame ? existingColumns(config, header) : config
  const nameColumn = own.nameColumn ?? guess.nameColumn ?? [UNKNOWN]
  const isUsual = nameColumn.length === 1 && nameColumn[0] === 'name'
  // If the user named an id column, rows are not numbered.
  const id =
    config.idColumn !== null && guess.idColumn === null
      ? { idColumn: UNKNOWN }
      : { idColumn: usual(guess.idColumn, 'id'), numberFrom: guess.numberFrom }
  const { numberFrom } = config
  const { idColumn } = own
  return {
    ...(guess.headerRow === null ? {} : { headerRow: guess.headerRow }),
    ...(guess.header ? {} : { header: false }),
    ...(idColumn === null && numberFrom === null ? id : { idColumn, numberFrom }),
    nameColumn: isUsual ? null : nameColumn,
    ...ofColumnOptions((name) => own[optionOf(name)] ?? usual(guess[optionOf(name)], name)),
  }
}

/** The words of a message about a file, with the command line that reads it. */
export function wordsFor(path: string, config: Config): Words {
  const tryWith = (values: Values): string =>
    `try: ${commandLine(path, config, { ...pick(config, [...COLUMNS, 'numberFrom']), ...values })}`
  return {
    ...OPTION_WORDS,
    encoding: (encoding) => tryWith({ encoding: encoding ?? UNKNOWN_ENCODING }),
    lists(paths, all) {
      const [list = all, other] = paths
      return other === undefined ? tryWith({ list }) : OPTION_WORDS.lists(paths, all)
    },
  }
}

/** The command line that imports the refused rows from their file, once they are fixed. */
export function refusedLine(
  path: string,
  config: Config,
  columns: Columns,
  { format, idColumn: addedIdColumn, nameOf }: RefusedWriter,
): string {
  const idColumn = addedIdColumn ?? config.idColumn
  const own = {
    format: formatToRead(path) === format ? null : format,
    idColumn: idColumn === 'id' ? null : idColumn,
    nameColumn: config.nameColumn && columns.name.map((column) => nameOf(column)),
    ...ofColumnOptions((name) => {
      const place = columns[name]
      return place !== null && config[optionOf(name)] ? nameOf(place) : null
    }),
    ...storing(config),
    refused: null,
  }
  return ['plantstore import', quote(path), ...wordsOf(own)].join(' ')
}
