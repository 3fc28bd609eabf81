// plantstore export: writes all plants as of one moment, as text or as a workbook.

import { DATABASE_OPTIONS } from '../../config/options'
import { engineOf, type PlantParts } from '../../engine/engine'
import { OpenError, UsageError, writeError } from '../../errors'
import { openDescriptor } from '../../files/descriptor'
import { beginFile } from '../../files/replace-file'
import { descriptorOf, kindAt, pathToWrite, statOf } from '../../files/resolve-path'
import {
  EXPORT_FORMATS,
  type ExportFormat,
  formatToWrite,
  MAX_WORKBOOK_PLANTS,
} from '../../formats/format'
import { type PlantToWrite, WRITERS } from '../../formats/write'
import { EXIT_CODES } from '../../program'
import type { Command, CommandContext } from '../command'
import { countOf } from '../count'
import { interruptible } from '../terminal/interrupt'
import { writeAll } from '../terminal/output'
import { createProgress, inPlants } from '../terminal/progress'
import { commandLog } from '../terminal/suspend'

const STANDARD_OUTPUT = 1

/** An open file of the output. */
type Target = Disposable & { readonly fd: number }

type ExportResult = {
  readonly plants: number
  readonly isWhole: boolean
  readonly notice?: string | undefined
}

/** Passes plants on in parts, until `take` returns false. Resolves to their number. */
async function passOn(
  parts: PlantParts,
  take: (part: readonly PlantToWrite[]) => boolean,
  onPlants: (plants: number) => void,
): Promise<ExportResult> {
  let plants = 0
  for await (const part of parts) {
    if (!take(part)) return { plants, isWhole: false }
    plants += part.length
    onPlants(plants)
    // Yields for signals, but no longer: until this moment has been read, the write-ahead log of a busy daemon cannot
    // shrink, and a longer log delays commits.
    await Bun.sleep(0)
  }
  return { plants, isWhole: true }
}

/** Writes plants as a workbook, which is written whole. */
async function writeBook(
  fd: number,
  parts: PlantParts,
  onPlants: (plants: number) => void,
): Promise<ExportResult> {
  const plants: PlantToWrite[] = []
  const take = (part: readonly PlantToWrite[]): boolean => {
    for (const plant of part) plants.push(plant)
    if (plants.length <= MAX_WORKBOOK_PLANTS) return true
    const most = `a workbook is written of up to ${MAX_WORKBOOK_PLANTS} plants`
    throw new OpenError(`${most}; export CSV or NDJSON`)
  }
  await passOn(parts, take, onPlants)
  const { changedPlants, writeWorkbook } = await import('../../formats/workbook/write')
  const changed = changedPlants(plants)
  const [first] = changed
  const notice =
    first &&
    `a cell keeps no empty text and no carriage return, as in ${countOf(changed.length, 'plant')} (first: ${first.id}); NDJSON keeps both`
  return { plants: plants.length, isWhole: writeAll(fd, writeWorkbook(plants)), notice }
}

/** The format to write, by the file's name if no option says it. */
function formatOf(option: string | null, path: string | undefined): ExportFormat {
  const name = option ?? (path === undefined ? 'ndjson' : formatToWrite(path))
  const format = EXPORT_FORMATS.find((candidate) => candidate === name)
  if (format) return format
  throw new UsageError('unknown format; add --format ndjson, csv or xlsx')
}

/** The path of an export, undefined for standard output, and its format. Throws a `UsageError` for options that do not fit. */
function readArguments({ config, args: [name, ...rest], out }: CommandContext) {
  if (rest.length > 0) throw new UsageError('give at most one FILE')
  const path = name === '-' ? undefined : name
  const format = formatOf(config.format, path)
  if (config.escapeFormulas && format !== 'csv')
    throw new UsageError('--escape-formulas is for CSV')
  if (format === 'xlsx' && path === undefined && out.isTTY && !out.isDiscarded)
    throw new UsageError('a workbook is not for a terminal; name a FILE')
  return { path, format: config.escapeFormulas ? ('inert' as const) : format }
}

function writePlants(
  fd: number,
  format: ExportFormat | 'inert',
  parts: PlantParts,
  onPlants: (plants: number) => void,
): Promise<ExportResult> {
  if (format === 'xlsx') return writeBook(fd, parts, onPlants)
  const { header, line } = WRITERS[format]
  writeAll(fd, header)
  return passOn(parts, (part) => writeAll(fd, part.map(line).join('')), onPlants)
}

async function runExport(context: CommandContext): Promise<number> {
  const { config, out, err } = context
  const { path, format } = readArguments(context)
  const { database } = config
  const engine = engineOf(database)
  const { files } = engine.locate(database)
  // No progress among plants printed on a terminal.
  const isDrawn = err.isTTY && !(path === undefined && out.isTTY)
  const progress = createProgress({ ...err, isTTY: isDrawn }, inPlants)

  /** Exports to a target, until the signal is aborted. */
  const exportTo = (open: () => Target, mode: 'once' | 'repeatable', signal?: AbortSignal) =>
    engine.readAll(database, config, mode, commandLog(err), async (parts) => {
      using target = open()
      return await writePlants(target.fd, format, parts, (plants) => {
        signal?.throwIfAborted()
        progress.update(plants)
      })
    })

  function report({ plants, isWhole, notice }: ExportResult): number {
    progress.end()
    if (notice !== undefined) err.write(`${notice}\n`)
    const end = isWhole ? '' : '; the reader closed the pipe'
    err.write(`exported ${countOf(plants, 'plant')}${end}\n`)
    return EXIT_CODES.ok
  }

  try {
    // Reopening a file of the shell would truncate it, or write from its start.
    const fd = path === undefined ? STANDARD_OUTPUT : descriptorOf(path)
    if (path === undefined || fd !== null) {
      const target = { fd: fd ?? STANDARD_OUTPUT, [Symbol.dispose]() {} }
      return report(await exportTo(() => target, 'once'))
    }
    // A device or a pipe is written directly; a file is replaced when complete, unless another process has it open.
    if (kindAt(path) === 'not a regular file' && !statOf(path)?.isFile()) {
      const target = pathToWrite(path, files)
      return report(await exportTo(() => openDescriptor(target, 'w'), 'once'))
    }
    return await interruptible(async (signal) => {
      await using file = await beginFile(path, 'replace', files)
      const result = await file.write((temp) =>
        exportTo(() => openDescriptor(temp, 'w'), 'repeatable', signal),
      )
      await file.place()
      return report(result)
    })
  } catch (error) {
    throw writeError(error, path ?? 'standard output')
  } finally {
    progress.end()
  }
}

export const exportPlants: Command = {
  name: 'export',
  usage: '[FILE|-]',
  summary: 'write all plants to a file, or to standard output',
  help: `Writes NDJSON, CSV or a workbook (.xlsx), by the file's name or --format; by
default NDJSON to standard output. An export is a snapshot of one moment, which
"plantstore import" reads again. The file replaces any of its name once it is
complete. Nothing is written to the database.

A workbook has up to ${MAX_WORKBOOK_PLANTS} plants, all cells as text, which a spreadsheet
leaves as they are. --escape-formulas makes a CSV safe for a spreadsheet: it
prefixes formulas with an apostrophe, which an import keeps, and adds a byte
order mark, which Excel needs for letters beyond ASCII.`,
  options: [...DATABASE_OPTIONS, 'format', 'escapeFormulas'],
  run: runExport,
}
