// plantstore export: writes all plants as of one moment, as text or as a workbook.

import { lstatSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DATABASE_OPTIONS, oneOf } from '../../config/options'
import { engineOf, type PlantParts } from '../../engine/engine'
import { OpenError, UsageError, writeError } from '../../errors'
import { openDescriptor } from '../../files/descriptor'
import { produceFile } from '../../files/replace-file'
import {
  descriptorOf,
  isPlanted,
  kindAt,
  requireRegular,
  requireUnused,
  targetOf,
} from '../../files/resolve-path'
import {
  EXPORT_FORMATS,
  type ExportFormat,
  formatToWrite,
  MAX_WORKBOOK_PLANTS,
} from '../../formats/format'
import { type PlantToWrite, WRITERS, type Writer } from '../../formats/write'
import { EXIT_CODES } from '../../program'
import type { Command } from '../command'
import { countOf } from '../count'
import { interruptible } from '../terminal/interrupt'
import { writeAll } from '../terminal/output'
import { createProgress, inPlants } from '../terminal/progress'
import { commandLog } from '../terminal/suspend'

/** Writes a part of the output; false if its reader has closed it. */
type Write = (part: string | Uint8Array) => boolean

/** Opens the output, and passes it to `write`. */
type Output = <T>(write: (write: Write) => Promise<T>) => Promise<T>

type ExportResult = {
  readonly plants: number
  readonly isWhole: boolean
  readonly notice?: string | undefined
}

/** Writes plants as text, until the output is closed. */
async function writePlants(
  write: Write,
  { header, line }: Writer,
  parts: PlantParts,
  onPlants: (plants: number) => void,
): Promise<ExportResult> {
  let plants = 0
  if (!write(header)) return { plants, isWhole: false }
  for await (const part of parts) {
    if (!write(part.map(line).join(''))) return { plants, isWhole: false }
    plants += part.length
    onPlants(plants)
    // Yields for signals, but no longer: until this moment has been read, the write-ahead log of a busy daemon cannot
    // shrink, and a longer log delays commits.
    await Bun.sleep(0)
  }
  return { plants, isWhole: true }
}

/** Collects the plants of a workbook, which is written whole. */
async function collectPlants(
  parts: PlantParts,
  onPlants: (plants: number) => void,
): Promise<readonly PlantToWrite[]> {
  const plants: PlantToWrite[] = []
  for await (const part of parts) {
    for (const plant of part) plants.push(plant)
    if (plants.length > MAX_WORKBOOK_PLANTS) {
      throw new OpenError(
        `a workbook is written of up to ${MAX_WORKBOOK_PLANTS} plants; export CSV or NDJSON`,
      )
    }
    onPlants(plants.length)
    await Bun.sleep(0)
  }
  return plants
}

/** Writes plants as a workbook. */
async function writeBook(write: Write, plants: readonly PlantToWrite[]): Promise<ExportResult> {
  const { changedPlants, writeWorkbook } = await import('../../formats/workbook/write')
  const changed = changedPlants(plants)
  const [first] = changed
  const notice =
    first &&
    `${countOf(changed.length, 'plant')} will not come back as ${changed.length === 1 ? 'it was' : 'they were'}: a cell keeps no empty text and no carriage return (first: ${first.id}); NDJSON keeps both`
  return { plants: plants.length, isWhole: write(writeWorkbook(plants)), notice }
}

/** A file, which is truncated. */
const toFile =
  (path: string): Output =>
  async (write) => {
    using file = openDescriptor(path, 'w')
    return await write((part) => writeAll(file.fd, part))
  }

/**
 * True if a path names a file, which is replaced when complete; false for a device or a pipe, which is written
 * directly.
 */
function isReplaced(path: string, files: readonly string[]): boolean {
  requireUnused(path, files)
  const target = targetOf(path)
  const kind = kindAt(target)
  if (kind === 'a folder' || kind === 'a socket') requireRegular(path)
  if (kind === null) return true
  const stat = statSync(target)
  if (isPlanted(stat, lstatSync(dirname(target)))) {
    throw new OpenError(`${path} belongs to user ${stat.uid}, in a shared folder; not written to`)
  }
  return false
}

/** The format to write, by the file's name if no option says it. */
function formatOf(option: string | null, path: string | undefined): ExportFormat {
  const byName = path === undefined ? 'ndjson' : formatToWrite(path)
  const format = EXPORT_FORMATS.find((candidate) => candidate === (option ?? byName))
  if (format) return format
  throw new UsageError('unknown format; add --format ndjson, csv or xlsx')
}

export const exportPlants: Command = {
  name: 'export',
  usage: '[FILE|-]',
  summary: 'write all plants to a file, or to standard output',
  help: `Writes NDJSON, CSV or a workbook (.xlsx), by the file's name or --format; by default NDJSON to standard output.
The export is a snapshot of one moment, with exact ids; "plantstore import" recreates the store from it. The file
appears under its name once it is complete, and replaces any file of that name. A workbook has up to ${MAX_WORKBOOK_PLANTS}
plants, all cells as text: a spreadsheet changes none of them. --escape-formulas makes a CSV safe to open in a
spreadsheet: it prefixes formulas with an apostrophe, which an import keeps, and adds a byte order mark, without which
Excel misreads letters beyond ASCII. Works while the daemon runs, and writes nothing to the database.`,
  options: [...DATABASE_OPTIONS, 'format', 'escapeFormulas'],
  overrides: {
    format: { ...oneOf(EXPORT_FORMATS), help: 'ndjson, csv or xlsx; default: by the file name' },
  },
  async run({ config, args: [name, ...rest], out, err }) {
    const path = name === '-' ? undefined : name
    if (rest.length > 0) throw new UsageError('give at most one FILE')
    const format = formatOf(config.format, path)
    const { database } = config
    if (config.escapeFormulas && format !== 'csv')
      throw new UsageError('--escape-formulas is for CSV')
    if (format === 'xlsx' && path === undefined && out.isTTY && !out.isDiscarded)
      throw new UsageError('a workbook is not for a terminal; name a FILE')
    const engine = engineOf(database)
    const { files } = engine.locate(database)
    // No progress bar among plants printed on a terminal.
    const log = commandLog(err)
    const isDrawn = err.isTTY && !(path === undefined && out.isTTY)
    const progress = createProgress({ ...err, isTTY: isDrawn }, inPlants)

    /** Exports to an output; `check` throws once the user has interrupted the command. */
    async function exportTo(
      output: Output,
      mode: 'once' | 'repeatable',
      check = () => {},
    ): Promise<ExportResult> {
      const onPlants = (plants: number): void => {
        check()
        progress.update(plants)
      }
      const read = <T>(use: (parts: PlantParts) => Promise<T>) =>
        engine.readAll(database, config, mode, log, use)
      if (format !== 'xlsx') {
        const writer = WRITERS[config.escapeFormulas ? 'inert' : format]
        return read((parts) => output((write) => writePlants(write, writer, parts, onPlants)))
      }
      const plants = await read((parts) => collectPlants(parts, onPlants))
      const result = await output((write) => writeBook(write, plants))
      check()
      return result
    }

    /** Exports to an output that cannot be restarted: its reader already has the first part. */
    const stream = (write: Write) => exportTo((use) => use(write), 'once')

    function reportResult({ plants, isWhole, notice }: ExportResult): number {
      progress.end()
      if (notice !== undefined) err.write(`${notice}\n`)
      err.write(
        `exported ${countOf(plants, 'plant')}${isWhole ? '' : '; the reader closed the pipe'}\n`,
      )
      return EXIT_CODES.ok
    }

    try {
      if (path === undefined) return reportResult(await stream((part) => out.write(part)))
      // Reopening a file of the shell would truncate it, or write from its start.
      const descriptor = descriptorOf(path)
      if (descriptor !== null)
        return reportResult(await stream((part) => writeAll(descriptor, part)))
      if (!isReplaced(path, files)) return reportResult(await exportTo(toFile(path), 'once'))
      return await interruptible(async (check) =>
        reportResult(
          await produceFile(path, 'replace', (temporary) =>
            exportTo(toFile(temporary), 'repeatable', check),
          ),
        ),
      )
    } catch (error) {
      throw writeError(error, path ?? 'standard output')
    } finally {
      progress.end()
    }
  },
}
