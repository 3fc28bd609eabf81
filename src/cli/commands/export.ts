// plantstore export: writes all plants as of one moment, as text.

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
import { formatToWrite, WRITTEN_FORMATS, type WrittenFormat } from '../../formats/format'
import { WRITERS, type Writer } from '../../formats/write'
import { EXIT_CODES } from '../../program'
import type { Command } from '../command'
import { countOf } from '../count'
import { interruptible } from '../terminal/interrupt'
import { writeAll } from '../terminal/output'
import { createProgress, inPlants } from '../terminal/progress'
import { commandLog } from '../terminal/suspend'

/** Writes text; false if the reader has closed the output. */
type WriteText = (text: string) => boolean

type ExportResult = { readonly plants: number; readonly isWhole: boolean }

/** Writes plants until the output is closed. */
async function writePlants(
  writeText: WriteText,
  { header, line }: Writer,
  parts: PlantParts,
  onPlants: (plants: number) => void,
): Promise<ExportResult> {
  let plants = 0
  if (!writeText(header)) return { plants, isWhole: false }
  for await (const part of parts) {
    if (!writeText(part.map(line).join(''))) return { plants, isWhole: false }
    plants += part.length
    onPlants(plants)
    // Yields for signals, but no longer: until this moment has been read, the write-ahead log of a busy daemon cannot
    // shrink, and a longer log delays commits (bench: backup).
    await Bun.sleep(0)
  }
  return { plants, isWhole: true }
}

/** Opens a file, truncates it, and passes it to `write`. */
async function writeFile<T>(path: string, write: (writeText: WriteText) => Promise<T>): Promise<T> {
  using file = openDescriptor(path, 'w')
  return await write((text) => writeAll(file.fd, text))
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
function formatOf(option: string | null, path: string | undefined): WrittenFormat {
  const byName = path === undefined ? 'ndjson' : formatToWrite(path)
  const format = WRITTEN_FORMATS.find((candidate) => candidate === (option ?? byName))
  if (format) return format
  throw new UsageError('unknown format; add --format ndjson or csv')
}

export const exportPlants: Command = {
  name: 'export',
  usage: '[FILE|-]',
  summary: 'write all plants to a file, or to standard output',
  help: `Writes NDJSON or CSV, by the file's name or --format; by default NDJSON to standard output. The export is a
snapshot of one moment, with exact ids; "plantstore import" recreates the store from it. The file appears under its
name once it is complete, and replaces any file of that name. --escape-formulas makes a CSV safe to open in a
spreadsheet: it prefixes formulas with an apostrophe, which an import keeps, and adds a byte order mark, without which
Excel misreads letters beyond ASCII. Works while the daemon runs, and writes nothing to the database.`,
  options: [...DATABASE_OPTIONS, 'format', 'escapeFormulas'],
  overrides: {
    format: { ...oneOf(WRITTEN_FORMATS), help: 'ndjson or csv; default: by the file name' },
  },
  async run({ config, args: [name, ...rest], out, err }) {
    const path = name === '-' ? undefined : name
    if (rest.length > 0) throw new UsageError('give at most one FILE')
    const format = formatOf(config.format, path)
    const { database } = config
    if (config.escapeFormulas && format !== 'csv')
      throw new UsageError('--escape-formulas is for CSV')
    const writer = WRITERS[config.escapeFormulas ? 'inert' : format]
    const engine = engineOf(database)
    const { files } = engine.locate(database)
    // No progress bar among plants printed on a terminal.
    const log = commandLog(err)
    const isDrawn = err.isTTY && !(path === undefined && out.isTTY)
    const progress = createProgress({ ...err, isTTY: isDrawn }, inPlants)

    /** Writes plants; `check` throws once the user has interrupted the command. */
    const write = (
      writeText: WriteText,
      parts: PlantParts,
      check = () => {},
    ): Promise<ExportResult> =>
      writePlants(writeText, writer, parts, (plants) => {
        check()
        progress.update(plants)
      })

    /** Writes to an output that cannot be restarted: its reader already has the first part. */
    const stream = (writeText: WriteText): Promise<ExportResult> =>
      engine.readAll(database, config, 'once', log, (parts) => write(writeText, parts))

    const replaceFile = (file: string, check: () => void): Promise<ExportResult> =>
      produceFile(file, 'replace', (temporary) =>
        engine.readAll(database, config, 'repeatable', log, (parts) =>
          writeFile(temporary, (writeText) => write(writeText, parts, check)),
        ),
      )

    function reportResult({ plants, isWhole }: ExportResult): number {
      progress.end()
      err.write(
        `exported ${countOf(plants, 'plant')}${isWhole ? '' : '; the reader closed the pipe'}\n`,
      )
      return EXIT_CODES.ok
    }

    try {
      if (path === undefined) return reportResult(await stream((text) => out.write(text)))
      // Reopening a file of the shell would truncate it, or write from its start.
      const descriptor = descriptorOf(path)
      if (descriptor !== null)
        return reportResult(await stream((text) => writeAll(descriptor, text)))
      if (!isReplaced(path, files)) return reportResult(await writeFile(path, stream))
      return await interruptible(async (check) => reportResult(await replaceFile(path, check)))
    } catch (error) {
      throw writeError(error, path ?? 'standard output')
    } finally {
      progress.end()
    }
  },
}
