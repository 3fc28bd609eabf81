// plantstore import: creates the plants of a file, as clients would.

import { withoutPassword } from '../../engine/database-url'
import { engineOf, openStore } from '../../engine/engine'
import { storeGuest } from '../../engine/store-user'
import { messageOf, OpenError, UsageError } from '../../errors'
import { openInput, readInput } from '../../files/input'
import { type Columns, ColumnsError, resolveColumns, usedColumns } from '../../formats/columns'
import { prepend } from '../../formats/encoding'
import { type Format, formatToRead } from '../../formats/format'
import type { Guess } from '../../formats/guess'
import { listColumns, ofColumnOptions, optionOf } from '../../formats/header'
import { grouped, readPlants } from '../../formats/plants'
import { createRefusedWriter } from '../../formats/refused'
import { type Entry, showText } from '../../formats/row'
import type { Source } from '../../formats/source'
import type { WorkbookReader } from '../../formats/spreadsheet'
import { openTable, type Table } from '../../formats/table'
import { optionWords, type Words } from '../../formats/words'
import { writers } from '../../formats/write'
import { FIELDS, listWords, OPTIONAL_TEXTS, ofOptionalTexts } from '../../plant/plant'
import { exitCodes, quote } from '../../program'
import { type Command, type CommandContext, onlyArgument } from '../command'
import type { Config } from '../config'
import { createRehearsal, importAll, type Run } from '../import/importing'
import { openRefusedFile } from '../import/refused-file'
import { createTally, REFUSED_SHOWN, summarize } from '../import/tally'
import { readInThread } from '../import/workbook-thread'
import { databaseOptions, type OptionName, toFlag } from '../options'
import { heedSignals, interruptCode, watchInterrupt } from '../terminal/interrupt'
import { createProgress, inPlants } from '../terminal/progress'
import { attended } from '../terminal/suspend'

const PLANTS_SHOWN = 5

const DELIMITER_NAMES: Readonly<Record<string, string>> = {
  ',': 'comma',
  ';': 'semicolon',
  '\t': 'tab',
  '|': 'bar',
}

/** The options of `import` that say how a file is read, as they were given. */
const READING = ['format', 'sheet', 'list', 'header', 'headerRow', 'delimiter', 'encoding'] as const
const COLUMNS = ['idColumn', 'nameColumn', ...OPTIONAL_TEXTS.map(optionOf)] as const

/** Options as words of a command line, without those that have their default. */
function wordsOf(values: Partial<Record<OptionName, unknown>>): string[] {
  return Object.entries(values).flatMap(([key, value]) => {
    const flag = toFlag(key as OptionName)
    if (value === null || value === undefined || value === true) return []
    if (Array.isArray(value)) return value.flatMap((it) => [flag, quote(it)])
    return value === false ? [flag] : [flag, quote(value === '\t' ? 'tab' : String(value))]
  })
}

const pick = (config: Config, names: readonly OptionName[]) =>
  Object.fromEntries(names.map((name) => [name, config[name]]))

/** The command line that imports a file with other columns. */
function commandLine(
  path: string,
  config: Config,
  columns: Partial<Record<OptionName, unknown>>,
): string {
  const database =
    config.database === 'plants.db' ? [] : ['--database', quote(withoutPassword(config.database))]
  const words = [...wordsOf({ ...pick(config, READING), ...columns }), ...database]
  return ['plantstore import', quote(path), ...words].join(' ')
}

/** Stands in a proposed command line for a column that only the user knows. */
const UNKNOWN = 'COLUMN'

const usual = (column: string | null, name: string) => (column === name ? null : column)

/** The options of a guess, where the user has not said otherwise. */
function guessed(guess: Guess, config: Config): Partial<Record<OptionName, unknown>> {
  const nameColumn = config.nameColumn ?? guess.nameColumn ?? [UNKNOWN]
  const isUsual = nameColumn.length === 1 && nameColumn[0] === 'name'
  const id = { idColumn: usual(guess.idColumn, 'id'), numberFrom: guess.numberFrom }
  const { idColumn, numberFrom } = config
  return {
    ...(guess.headerRow === null ? {} : { headerRow: guess.headerRow }),
    ...(guess.header ? {} : { header: false }),
    ...(idColumn === null && numberFrom === null ? id : { idColumn, numberFrom }),
    nameColumn: isUsual ? null : nameColumn,
    ...ofColumnOptions((name) => config[optionOf(name)] ?? usual(guess[optionOf(name)], name)),
  }
}

const listSheets = ({ sheets, sheet }: Table): string =>
  sheets
    .filter((it) => it !== sheet)
    .map((it) => JSON.stringify(it))
    .join(', ')

/** The sheet or the list that is read, of several; null: there is only one. */
function explainChoice(table: Table): string | null {
  const { sheet, sheets, list } = table
  if (list !== null) return `reading the list ${showText(list)}`
  if (sheets.every((it) => it === sheet)) return null
  return `sheet ${JSON.stringify(sheet)}; use --sheet to read ${listSheets(table)}`
}

/** How the columns of a table were told apart, and the option for another way. */
function describe(table: Table): string {
  const { delimiter } = table
  if (delimiter !== null) {
    const name = DELIMITER_NAMES[delimiter] ?? JSON.stringify(delimiter)
    return ` (${name}-separated; change with --delimiter)`
  }
  if (table.list !== null) return ` in the list ${showText(table.list)}`
  const choice = explainChoice(table)
  return choice === null ? '' : ` in ${choice}`
}

function findColumns(path: string, table: Table, config: Config): Columns {
  try {
    return resolveColumns(table.header, table.sample, config, table.isNamed, describe(table))
  } catch (error) {
    if (!(error instanceof ColumnsError)) throw error
    throw new OpenError(
      `${error.message}; try: ${commandLine(path, config, guessed(error.guess, config))}`,
    )
  }
}

/** The words of a message about a file, with the command line that reads it. */
const wordsFor = (path: string, config: Config): Words => ({
  ...optionWords,
  encoding: (encoding) =>
    encoding === null
      ? optionWords.encoding(null)
      : `try: ${commandLine(path, config, { ...pick(config, [...COLUMNS, 'numberFrom']), encoding })}`,
})

/** Opens a file and finds its columns. Throws an `OpenError` that names the file. */
async function open(
  path: string,
  format: Format,
  source: Source,
  config: Config,
  signal: AbortSignal,
) {
  const readBook: WorkbookReader = (book, sheet) => readInThread(book, sheet, signal)
  try {
    const settings = { ...config, hasHeader: config.header }
    const table = await openTable(format, source, settings, wordsFor(path, config), readBook)
    // A file without a row has no columns either.
    const isEmpty = table.header.length === 0
    const none: Columns = { id: null, numberFrom: null, name: [0], ...ofOptionalTexts(() => null) }
    return { table, columns: isEmpty ? none : findColumns(path, table, config) }
  } catch (error) {
    if (!(error instanceof OpenError)) throw error
    const file = path === '-' ? 'standard input' : path
    throw new OpenError(`${file}: ${error.message}`, error.storage)
  }
}

/** Throws a `UsageError` for options that do not go with a format, or with each other. */
function checkOptions(config: Config, format: Format): void {
  const isJson = format === 'json' || format === 'ndjson'
  if (config.delimiter && format !== 'csv') throw new UsageError('--delimiter is for CSV')
  if (config.sheet && format !== 'xlsx') throw new UsageError('--sheet is for workbooks (.xlsx)')
  if (config.encoding && format === 'xlsx') {
    throw new UsageError('--encoding is for text, not for workbooks')
  }
  if (!config.header && isJson) throw new UsageError('--no-header is for CSV and workbooks')
  if (config.headerRow !== null && isJson) {
    throw new UsageError('--header-row is for CSV and workbooks')
  }
  if (config.headerRow !== null && !config.header) {
    throw new UsageError('give --header-row or --no-header, not both')
  }
  if (config.list !== null && !isJson) throw new UsageError('--list is for JSON')
  if (config.numberFrom !== null && config.idColumn !== null) {
    throw new UsageError('give --id-column or --number-from, not both')
  }
}

async function importFile({ config, args, out, err }: CommandContext): Promise<number> {
  const path = onlyArgument(args, 'FILE, or - for standard input')
  const { dryRun: isDry, strict: isStrict, replace: replaces, refused } = config
  const format = config.format ?? formatToRead(path)
  if (!format) throw new UsageError('unknown format; add --format csv, ndjson, json or xlsx')
  checkOptions(config, format)
  const engine = engineOf(config.database)
  const { name, isNew, files } = engine.locate(config.database)
  await using refusedFile =
    refused === null ? null : await openRefusedFile(refused, [path, ...files])
  const input = openInput(path)
  using signal = watchInterrupt()
  const progress = createProgress(err, inPlants)
  // Replaces the progress bar with a line.
  const report = (line: string) => {
    progress.end()
    err.write(`${line}\n`)
  }
  let read = 0
  const readFrom = (from: typeof input, purpose: 'look' | 'read') =>
    heedSignals(
      readInput(from, path, signal, (length) => {
        if (purpose === 'read') read += length
      }),
    )
  // Only a file on a disk can be read from its beginning again.
  const source: Source =
    input.bytes === null ? readFrom(input, 'read') : (purpose) => readFrom(openInput(path), purpose)
  const { table, columns } = await open(path, format, source, config, signal)
  if (signal.aborted) return interruptCode(signal)
  const choice = explainChoice(table)
  const notices: string[] = choice === null ? [] : [choice]
  const groups = grouped(readPlants(table, columns, optionWords, (it) => notices.push(it)))

  const refusedWriter = createRefusedWriter(table, columns)
  const tally = createTally(report, (entry, problem, place) => {
    if (!refusedFile || !('source' in entry)) return
    refusedFile.add(refusedWriter.row(entry.source, problem, place), refusedWriter.header)
  })

  /** Says what was done, even of an import that fails or is interrupted. */
  async function end(): Promise<void> {
    progress.end()
    tally.end()
    const used = usedColumns(columns)
    const unused = [...table.header.keys()].filter((place) => !used.has(place))
    if (table.isNamed && unused.length > 0)
      report(`columns not used: ${listColumns(table.header, unused)}`)
    notices.forEach(report)
    await saveRefused().finally(() => out.write(summarize(tally, isDry)))
  }

  async function saveRefused(): Promise<void> {
    if (refused !== null && (await refusedFile?.end())) {
      const idColumn = refusedWriter.idColumn ?? config.idColumn
      const own = {
        idColumn: idColumn === 'id' ? null : idColumn,
        nameColumn: config.nameColumn && columns.name.map((it) => refusedWriter.nameOf(it)),
        ...ofColumnOptions((name) => {
          const place = columns[name]
          return place !== null && config[optionOf(name)] ? refusedWriter.nameOf(place) : null
        }),
      }
      const line = ['plantstore import', quote(refused), ...wordsOf(own)].join(' ')
      report(`the refused rows are in ${refused}; mend them, then: ${line}`)
    }
  }

  async function rehearse(groups: AsyncIterable<readonly Entry[]>): Promise<void> {
    const rehearsal = createRehearsal(replaces, tally.account)
    let shown = 0
    for await (const group of groups) {
      if (signal.aborted) break
      for (const entry of group) {
        if (!('plant' in entry) || shown === PLANTS_SHOWN) continue
        if (shown === 0) out.write('the first plants, as they would be stored:\n')
        out.write(writers.ndjson.line(entry.plant))
        shown += 1
      }
      rehearsal.add(group)
      progress.update(tally.rows(), read, input.bytes)
    }
    const compare = (stored: Parameters<typeof rehearsal.end>[0]) => rehearsal.end(stored)
    if (isNew) await compare([])
    else await engine.readAll(config.database, config, 'once', compare)
  }

  // A file that cannot be read creates no database.
  const first = await groups.next()
  if (signal.aborted) return interruptCode(signal)
  const all = first.done ? groups : prepend(first.value, groups)
  const role = storeGuest({ makesDatabase: true, ...attended(err) })
  const store = isDry ? null : await openStore(config.database, role, config)
  if (store && isNew) err.write(`created database ${name}\n`)
  try {
    if (store) {
      const run: Run = { store, isStrict, replaces, account: tally.account }
      const isOver = await importAll(run, all, async () => {
        refusedFile?.flush()
        progress.update(tally.rows(), read, input.bytes)
        return !signal.aborted
      })
      if (!isOver) tally.stop('what follows the first refused row (--strict)')
    } else await rehearse(all)
    if (signal.aborted) tally.stop('the rest, because it was interrupted')
  } catch (error) {
    tally.stop(`the rest: ${messageOf(error)}`)
    throw error
  } finally {
    signal[Symbol.dispose]()
    await end().finally(() => store?.close())
  }
  if (signal.aborted) {
    err.write('interrupted; run it again to complete it\n')
    return interruptCode(signal)
  }
  return tally.counts.refused > 0 || tally.notRead() !== null ? exitCodes.failure : exitCodes.ok
}

export const importPlants: Command = {
  name: 'import',
  usage: 'FILE|-',
  summary: 'read plants from a file, or from standard input',
  help: `Reads a file of plants: CSV with any delimiter, a workbook (.xlsx, .xls, .ods), or JSON of any shape. The columns ${listWords(FIELDS)} are found by their names, in any case; ${listWords(COLUMNS.map(toFlag))} name others. If they do not fit, the message proposes a command line to try. A file without ids: --number-from 1 gives the first row the id 1, the next 2, and so on; the same command run again finds the same plants stored, and skips them.

  plantstore import prices.csv --name-column "Latin name" --number-from 1
  plantstore import beds.xlsx --name-column Genus --name-column Species

Creates the database if there is none. A plant that is already stored is skipped. With --replace, a stored plant that differs is updated, so a file can be imported again whenever it has changed. Without it, a row whose id is stored with other fields is refused, as is a row that is wrong; the import goes on. The first ${REFUSED_SHOWN} refused rows are shown, and --refused writes them all to a file. Reading stops at a quote that is never closed; the summary says from which line on nothing was read. --dry-run shows what would happen.

After Ctrl-C or a failure, run it again to complete it. Works while the daemon runs. Exit code 1 if any row was refused or not read, 130 after Ctrl-C.`,
  options: [
    ...COLUMNS,
    'numberFrom',
    ...READING,
    'dryRun',
    'refused',
    'strict',
    'replace',
    ...databaseOptions,
  ],
  run: importFile,
}
