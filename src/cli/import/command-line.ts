// The commands that an import proposes: for the same file with other options, and for the refused rows.

import type { Config } from '../../config/config'
import { OPTIONS, type OptionName, toFlag } from '../../config/options'
import { withoutPassword } from '../../engine/database-url'
import { type Advice, COMMAND_ADVICE } from '../../formats/advice'
import { type Columns, columnsNamed } from '../../formats/columns'
import { formatToRead } from '../../formats/format'
import type { Guess } from '../../formats/guess'
import { ofColumnOptions, optionOf } from '../../formats/header'
import type { RefusedWriter } from '../../formats/refused'
import { OPTIONAL_TEXTS } from '../../plant/plant'
import { quote } from '../../program'

/** The options of `import` for reading a file. */
export const READING_OPTIONS = [
  'format',
  'sheet',
  'list',
  'header',
  'headerRow',
  'delimiter',
  'encoding',
  'null',
] as const
export const COLUMN_OPTIONS = ['idColumn', 'nameColumn', ...OPTIONAL_TEXTS.map(optionOf)] as const

/** The options of `import` for storing its plants. */
const STORING_OPTIONS = ['dryRun', 'refused', 'strict', 'replace', 'database'] as const

type OptionValues = Partial<Record<OptionName, unknown>>

/** Options as flags of a command line, without defaults. */
function flagsOf(values: OptionValues): string[] {
  return Object.entries(values).flatMap(([key, value]) => {
    const name = key as OptionName
    const flag = toFlag(name)
    if (value === null || value === undefined || value === OPTIONS[name].default) return []
    if (typeof value === 'boolean') return [flag]
    // A text that begins like a flag is joined to its own.
    const show = (text: string) =>
      text.startsWith('-') ? [`${flag}=${quote(text)}`] : [flag, quote(text)]
    return [value].flat().flatMap((part) => show(part === '\t' ? 'tab' : String(part)))
  })
}

const optionsOf = (config: Config, names: readonly OptionName[]): OptionValues =>
  Object.fromEntries(names.map((name) => [name, config[name]]))

/** The storing options of an import, for a proposed command. */
const storingOptions = (config: Config): OptionValues => ({
  ...optionsOf(config, STORING_OPTIONS),
  database: withoutPassword(config.database),
})

/** The command that imports a file with other columns. */
export function importCommand(path: string, config: Config, columns: OptionValues): string {
  const flags = flagsOf({
    ...optionsOf(config, READING_OPTIONS),
    ...columns,
    ...storingOptions(config),
  })
  return ['plantstore import', quote(path), ...flags].join(' ')
}

/** A column that only the user knows. */
const COLUMN_PLACEHOLDER = 'COLUMN'
/** An encoding that only the user knows. */
const ENCODING_PLACEHOLDER = 'ENCODING'

const unlessDefault = (column: string | null, name: string) => (column === name ? null : column)

/** The columns that the user named and the file has. */
function existingColumns(config: Config, header: readonly string[]) {
  const isColumn = (column: string) =>
    columnsNamed(header, column, true, config.header).length === 1
  const ifExists = (column: string | null) => (column !== null && isColumn(column) ? column : null)
  return {
    idColumn: ifExists(config.idColumn),
    nameColumn: config.nameColumn?.every(isColumn) ? config.nameColumn : null,
    ...ofColumnOptions((name) => ifExists(config[optionOf(name)])),
  }
}

/** The options of a guess; those that the user has set win. `header`: the first row, as it was read. */
export function guessOptions(
  guess: Guess,
  config: Config,
  header: readonly string[],
): OptionValues {
  // In another header, or without one, the columns of the user may be right.
  const isSame = guess.headerRow === null && guess.header === config.header
  const userColumns = isSame ? existingColumns(config, header) : config
  const nameColumn = userColumns.nameColumn ?? guess.nameColumn ?? [COLUMN_PLACEHOLDER]
  const isUsual = nameColumn.length === 1 && nameColumn[0] === 'name'
  // If the user named an id column, rows are not numbered; nor if their numbers would replace other plants.
  const id =
    (config.idColumn !== null || config.replace) && guess.idColumn === null
      ? { idColumn: COLUMN_PLACEHOLDER }
      : { idColumn: unlessDefault(guess.idColumn, 'id'), numberFrom: guess.numberFrom }
  const { numberFrom } = config
  const { idColumn } = userColumns
  return {
    ...(guess.headerRow === null ? {} : { headerRow: guess.headerRow }),
    ...(guess.header ? {} : { header: false }),
    ...(idColumn === null && numberFrom === null ? id : { idColumn, numberFrom }),
    nameColumn: isUsual ? null : nameColumn,
    ...ofColumnOptions(
      (name) => userColumns[optionOf(name)] ?? unlessDefault(guess[optionOf(name)], name),
    ),
  }
}

/** Advice that proposes the command to read the file. */
export function adviceFor(path: string, config: Config): Advice {
  const tryWith = (values: OptionValues): string =>
    `try: ${importCommand(path, config, { ...optionsOf(config, [...COLUMN_OPTIONS, 'numberFrom']), ...values })}`
  return {
    ...COMMAND_ADVICE,
    encoding: (encoding) => tryWith({ encoding: encoding ?? ENCODING_PLACEHOLDER }),
    lists(paths, all) {
      const [list = all, other] = paths
      return other === undefined ? tryWith({ list }) : COMMAND_ADVICE.lists(paths, all)
    },
  }
}

/** The command that imports the refused rows once they are fixed. */
export function refusedImportCommand(
  path: string,
  config: Config,
  columns: Columns,
  { format, idColumn: addedIdColumn, nameOf }: RefusedWriter,
): string {
  const idColumn = addedIdColumn ?? config.idColumn
  const options = {
    format: formatToRead(path) === format ? null : format,
    idColumn: idColumn === 'id' ? null : idColumn,
    nameColumn: config.nameColumn && columns.name.map((column) => nameOf(column)),
    ...ofColumnOptions((name) => {
      const column = columns[name]
      return column !== null && config[optionOf(name)] ? nameOf(column) : null
    }),
    null: config.null,
    ...storingOptions(config),
    refused: null,
  }
  return ['plantstore import', quote(path), ...flagsOf(options)].join(' ')
}
