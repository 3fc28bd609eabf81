// The commands that an import proposes: for the same file with other options, and for the refused rows.

import type { Config } from '../../config/config'
import { OPTIONS, type OptionName, toFlag } from '../../config/options'
import { withoutPassword } from '../../engine/database-url'
import type { Columns } from '../../formats/columns'
import { formatToRead } from '../../formats/format'
import { type ColumnOptions, ofColumnOptions, optionOf } from '../../formats/header'
import type { Question } from '../../formats/question'
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

/** A column that only the user knows. */
const COLUMN_PLACEHOLDER = 'COLUMN'

const unlessDefault = (column: string | null, name: string) => (column === name ? null : column)

/** The options for proposed columns. */
function columnOptions(
  { idColumn, numberFrom, nameColumn, ...texts }: ColumnOptions,
  config: Config,
): OptionValues {
  const isUsual = nameColumn?.length === 1 && nameColumn[0] === 'name'
  // If the user named an id column, rows are not numbered; nor if their numbers would replace other plants.
  const isToName = config.numberFrom === null && (config.idColumn !== null || config.replace)
  const id =
    idColumn === null && isToName
      ? { idColumn: COLUMN_PLACEHOLDER }
      : { idColumn: unlessDefault(idColumn, 'id'), numberFrom }
  return {
    ...id,
    nameColumn: isUsual ? null : (nameColumn ?? [COLUMN_PLACEHOLDER]),
    ...ofColumnOptions((name) => unlessDefault(texts[optionOf(name)], name)),
  }
}

/** The command that answers a question about a file. It has a word in capitals for what only the user knows. */
export function answerCommand(
  path: string,
  config: Config,
  { settings, columns }: Question,
): string {
  const answers = Object.entries(settings).map(([name, value]) => [
    name,
    value ?? name.toUpperCase(),
  ])
  const flags = flagsOf({
    ...optionsOf(config, READING_OPTIONS),
    ...Object.fromEntries(answers),
    ...(columns
      ? columnOptions(columns, config)
      : optionsOf(config, [...COLUMN_OPTIONS, 'numberFrom'])),
    ...storingOptions(config),
  })
  return ['plantstore import', quote(path), ...flags].join(' ')
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
