// plantstore import: creates the plants of a file, as clients would.

import { DATABASE_OPTIONS } from '../../config/options'
import { engineOf, openStore, type PlantParts } from '../../engine/engine'
import { commandUser } from '../../engine/store-user'
import { messageOf } from '../../errors'
import { COMMAND_ADVICE } from '../../formats/advice'
import { prepend } from '../../formats/encoding/encoding'
import { formatToRead } from '../../formats/format'
import { groupEntries, readPlants } from '../../formats/plants'
import { findUnmapped } from '../../formats/row-update'
import { EXIT_CODES } from '../../program'
import { type Command, type CommandContext, onlyArgument } from '../command'
import { COLUMN_OPTIONS, READING_OPTIONS } from '../import/command-line'
import { dryRun } from '../import/dry-run'
import { importGroups } from '../import/import-groups'
import { checkOptions, openFile } from '../import/open-file'
import { openRefusedFile } from '../import/refused-file'
import { REFUSED_SHOWN, Report } from '../import/report'
import { interruptible } from '../terminal/interrupt'
import { createProgress, inPlants } from '../terminal/progress'
import { commandLog, interactiveOptions } from '../terminal/suspend'

async function importFile(context: CommandContext, signal: AbortSignal): Promise<number> {
  const { config, args, err } = context
  const path = onlyArgument(args, 'FILE, or - for standard input')
  checkOptions(config, config.format ?? formatToRead(path))
  const engine = engineOf(config.database)
  const { name, isNew, files } = engine.locate(config.database)
  await using refusedFile =
    config.refused === null ? null : await openRefusedFile(config.refused, [path, ...files])
  const progress = createProgress(err, inPlants)
  const file = await openFile(path, config, signal)
  signal.throwIfAborted()
  const report = new Report(file, refusedFile, progress, context)
  const { table, columns } = file
  const groups = groupEntries(
    readPlants(table, columns, COMMAND_ADVICE, (notice) => report.notice(notice)),
  )

  // A file that cannot be read creates no database.
  const first = await groups.next()
  signal.throwIfAborted()
  const storeUser = commandUser({ makesDatabase: true, ...interactiveOptions(err) })
  const store = config.dryRun ? null : await openStore(config.database, storeUser, config)
  if (store && isNew) err.write(`created database ${name}\n`)
  try {
    const run = {
      unmappedTexts: findUnmapped(columns),
      isStrict: config.strict,
      replaces: config.replace,
      record: report.record,
    }
    const all = report.follow(first.done ? groups : prepend(first.value, groups), signal)
    const readStored = <T>(read: (parts: PlantParts) => Promise<T>): Promise<T> =>
      isNew
        ? read([])
        : engine.readAll(config.database, config, 'repeatable', commandLog(err), read)
    const isWhole = await (store ? importGroups(store, all, run) : dryRun(all, run, readStored))
    if (!isWhole) report.stop('what follows the first refused row (--strict)')
    if (signal.aborted) report.stop('the rest, because it was interrupted')
  } catch (error) {
    report.stop(`the rest: ${messageOf(error)}`)
    throw error
  } finally {
    await report.end().finally(() => store?.close())
  }
  if (signal.aborted) err.write('interrupted; run it again to complete it\n')
  signal.throwIfAborted()
  return report.isComplete ? EXIT_CODES.ok : EXIT_CODES.failure
}

export const importPlants: Command = {
  name: 'import',
  usage: 'FILE|-',
  summary: 'read plants from a file, or from standard input',
  help: `Reads CSV with any delimiter, workbooks (.xlsx, .xls, .ods), and JSON. Columns
are found by the names of a plant's fields; options such as --name-column name
others. If they do not fit, the message proposes a command to try. For a file
without ids, --number-from 1 assigns 1, 2, and so on, each time the same.

  plantstore import prices.csv --name-column "Latin name" --number-from 1
  plantstore import beds.xlsx --name-column Genus --name-column Species

Creates the database if there is none. A plant that is already stored is
skipped; a row whose id is stored with other fields is refused, unless --replace
updates the plant. A field without a column stays as it is stored. The first
${REFUSED_SHOWN} refused rows are shown; --refused writes them all to a file.

After Ctrl-C or a failure, run it again. Exit code 1 if any row was refused or
not read.`,
  options: [
    ...COLUMN_OPTIONS,
    'numberFrom',
    ...READING_OPTIONS,
    'dryRun',
    'refused',
    'strict',
    'replace',
    ...DATABASE_OPTIONS,
  ],
  run: (context) => interruptible((signal) => importFile(context, signal)),
}
