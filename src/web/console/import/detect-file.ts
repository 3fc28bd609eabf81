// Detects how to read a file: format, encoding, sheet, header and columns.

import { OpenError } from '../../../errors.ts'
import type { Columns } from '../../../formats/columns.ts'
import type { Format } from '../../../formats/format.ts'
import { ListsError } from '../../../formats/json/shape.ts'
import { type Settings, USUAL_SETTINGS } from '../../../formats/table.ts'
import { NO_PROPOSAL, type Proposal, propose } from './column-proposal.ts'
import type { Comparison } from './compare.ts'
import { findEncoding, findFormat, openFile, type ReadableFile } from './readable-file.ts'

export type ImportInput = {
  readonly readable: ReadableFile
  readonly columns: Columns
  /** True if plants that differ from the stored ones replace them. */
  readonly replaces: boolean
  /** The comparison with the stored plants; null: not all of them were read. */
  readonly comparison: Comparison | null
}

/** A file with its detected settings. */
export type DetectedFile = {
  readonly file: File
  readonly format: Format
  /** null: its encoding is unknown. */
  readonly readable: ReadableFile | null
  /** The reason that it is not readable. */
  readonly problem: string | null
  readonly settings: Settings
  /** The paths of the lists of a JSON file that has several; the first is proposed. */
  readonly lists: readonly string[]
  readonly proposal: Proposal
}

/** Identifies a file: importing it again numbers its rows as before. */
export const fileKey = ({ name, size, lastModified }: File): string =>
  JSON.stringify([name, size, lastModified])

const hasChange = ({ settings }: Proposal): boolean => Object.keys(settings).length > 0

async function hasNames({ table }: ReadableFile): Promise<boolean> {
  const proposal = await propose(table)
  return proposal.columns.name.length > 0 || hasChange(proposal)
}

// Reading a sheet needs the whole workbook.
const MAX_SHEETS = 10

/** A workbook whose first sheet has no column of names may have one on another of the first sheets. */
async function findSheet(
  file: File,
  readable: ReadableFile,
  signal: AbortSignal,
): Promise<ReadableFile> {
  if (await hasNames(readable)) return readable
  for (const sheet of readable.table.sheets.slice(1, MAX_SHEETS)) {
    const other = await openFile(file, 'xlsx', { ...USUAL_SETTINGS, sheet }, signal)
    if (await hasNames(other)) return other
  }
  return readable
}

const JSON_SHAPE = 'expected a JSON array of objects, or one object per line'

/** The reason that a file has no columns: it is empty, or none of its lines can be read. */
async function explainNothing({ rows }: ReadableFile): Promise<string> {
  for await (const [first] of rows()) {
    if (first && 'problem' in first) return `${JSON_SHAPE}; line ${first.line}: ${first.problem}`
    if (first && 'stop' in first) return `line ${first.line}: ${first.stop}`
  }
  return 'the file is empty'
}

/** Opens a file; if JSON has several lists, all of them, or else the first. */
async function openFirst(
  file: File,
  format: Format,
  encoding: string | null,
  signal: AbortSignal,
): Promise<{ first: ReadableFile; lists: readonly string[] }> {
  const settings = { ...USUAL_SETTINGS, encoding }
  try {
    return { first: await openFile(file, format, settings, signal), lists: [] }
  } catch (error) {
    if (!(error instanceof ListsError)) throw error
    const { paths, all } = error
    const lists = all === null || paths.includes(all) ? paths : [all, ...paths]
    const [list = null] = lists
    return { first: await openFile(file, format, { ...settings, list }, signal), lists }
  }
}

/** A file that is opened again with other settings, and another proposal. */
export async function reopen(
  detection: DetectedFile,
  change: Partial<Settings>,
  signal: AbortSignal,
): Promise<DetectedFile & { readonly readable: ReadableFile }> {
  const settings = { ...detection.settings, ...change }
  const readable = await openFile(detection.file, detection.format, settings, signal)
  const proposal = { ...(await propose(readable.table)), isUsual: false }
  return { ...detection, readable, settings, proposal }
}

/**
 * Opens a file with detected settings, until `signal` is aborted. Throws an `OpenError` with a fix if it cannot be
 * read.
 */
export async function detectFile(file: File, signal: AbortSignal): Promise<DetectedFile> {
  const format = await findFormat(file)
  const { encoding, problem } = await findEncoding(file, format)
  const unread = { file, format, readable: null, problem, lists: [], proposal: NO_PROPOSAL }
  if (problem !== null) return { ...unread, settings: USUAL_SETTINGS }
  const { first, lists } = await openFirst(file, format, encoding, signal)
  const readable = format === 'xlsx' ? await findSheet(file, first, signal) : first
  const { header, sheet } = readable.table
  if (header.length === 0) throw new OpenError(await explainNothing(readable))
  const settings = { ...USUAL_SETTINGS, encoding, sheet, list: lists[0] ?? null }
  const proposal = await propose(readable.table)
  let detection: DetectedFile = { ...unread, readable, settings, lists, proposal }
  // Other rows may need further settings.
  while (hasChange(detection.proposal))
    detection = await reopen(detection, detection.proposal.settings, signal)
  return detection
}

/** True if nothing about the reading of a file is open: usual columns, UTF-8, one sheet or list, no hidden row. */
export const isCertain = ({ readable, proposal, settings, lists }: DetectedFile): boolean =>
  readable !== null &&
  readable.table.sheets.length <= 1 &&
  readable.table.hiddenRows === 0 &&
  lists.length === 0 &&
  proposal.isUsual &&
  settings.encoding === null
