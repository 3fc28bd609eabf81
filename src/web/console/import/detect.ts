// Detects how to read a file: format, encoding, sheet, header and columns.

import { OpenError } from '../../../errors.ts'
import type { Columns } from '../../../formats/columns.ts'
import type { Format } from '../../../formats/format.ts'
import { ListsError } from '../../../formats/json/shape.ts'
import { type Settings, USUAL_SETTINGS } from '../../../formats/table.ts'
import { analyze } from './analyze.ts'
import { type ColumnChoice, NO_PROPOSAL, type Proposal, propose, toColumns } from './columns.ts'
import type { Compare, Comparison } from './compare.ts'
import { findEncoding, findFormat, type OpenedFile, openFile } from './file.ts'

export type ImportInput = {
  readonly opened: OpenedFile
  readonly columns: Columns
  /** True if plants that differ from the stored ones replace them. */
  readonly replaces: boolean
  /** The comparison with the stored plants; null: not all of them were read. */
  readonly compared: Comparison | null
}

/** A file with its detected settings. */
export type DetectedFile = {
  readonly file: File
  readonly format: Format
  /** Null: its encoding is not known. */
  readonly opened: OpenedFile | null
  /** The reason that it is not opened. */
  readonly problem: string | null
  readonly settings: Settings
  /** The paths of the lists of a JSON file that has several; the first is proposed. */
  readonly lists: readonly string[]
  readonly proposal: Proposal
  /** Its format and header: files of one kind share remembered settings. */
  readonly kind: string
}

/** The settings chosen for a kind of file. */
type RememberedChoice = {
  readonly settings: Settings
  readonly columns: ColumnChoice
  /** The file itself: importing it again numbers its rows as before. */
  readonly file: string
}

/** The settings chosen in this tab, by kind of file. */
export type Memory = Map<string, RememberedChoice>

export const nameFile = ({ name, size, lastModified }: File): string =>
  JSON.stringify([name, size, lastModified])

async function hasNames({ table }: OpenedFile): Promise<boolean> {
  const { columns, headerRow } = await propose(table)
  return columns.name.length > 0 || headerRow !== null
}

// Reading a sheet needs the whole workbook.
const MAX_SHEETS = 10

/** A workbook whose first sheet has no column of names may have one on another of the first sheets. */
async function findSheet(file: File, opened: OpenedFile, signal: AbortSignal): Promise<OpenedFile> {
  if (await hasNames(opened)) return opened
  for (const sheet of opened.table.sheets.slice(1, MAX_SHEETS)) {
    const other = await openFile(file, 'xlsx', { ...USUAL_SETTINGS, sheet }, signal)
    if (await hasNames(other)) return other
  }
  return opened
}

const JSON_SHAPE = 'expected a JSON array of objects, or one object per line'

/** The reason that a file has no columns: it is empty, or none of its lines can be read. */
async function explainNothing({ rows }: OpenedFile): Promise<string> {
  for await (const [first] of rows()) {
    if (first && 'problem' in first) return `${JSON_SHAPE}; line ${first.line}: ${first.problem}`
    if (first && 'stop' in first) return `line ${first.line}: ${first.stop}`
  }
  return 'the file is empty'
}

/** Opens a file as its first bytes say; of several lists in JSON, all of them, or else the first. */
async function openFirst(
  file: File,
  format: Format,
  encoding: string | null,
  signal: AbortSignal,
): Promise<{ first: OpenedFile; lists: readonly string[] }> {
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

/**
 * Opens a file with detected settings, until `signal` is aborted. Throws an `OpenError` with a fix if it cannot be
 * read.
 */
export async function detectFile(file: File, signal: AbortSignal): Promise<DetectedFile> {
  const format = await findFormat(file)
  const { encoding, problem } = await findEncoding(file, format)
  const found = { file, format, problem }
  if (problem !== null) {
    const kind = nameFile(file)
    return {
      ...found,
      opened: null,
      settings: USUAL_SETTINGS,
      lists: [],
      proposal: NO_PROPOSAL,
      kind,
    }
  }
  const { first, lists } = await openFirst(file, format, encoding, signal)
  const opened = format === 'xlsx' ? await findSheet(file, first, signal) : first
  const settings = {
    ...USUAL_SETTINGS,
    encoding,
    sheet: opened.table.sheet,
    list: lists[0] ?? null,
  }
  const { header } = opened.table
  if (header.length === 0) throw new OpenError(await explainNothing(opened))
  const kind = JSON.stringify([format, header])
  const proposal = await propose(opened.table)
  const { headerRow } = proposal
  if (headerRow !== null) {
    const below = { ...settings, headerRow }
    const table = await openFile(file, format, below, signal)
    return {
      ...found,
      opened: table,
      settings: below,
      lists,
      proposal: { ...(await propose(table.table)), isUsual: false },
      kind,
    }
  }
  if (proposal.hasHeader === settings.hasHeader || format === 'json' || format === 'ndjson')
    return { ...found, opened, settings, lists, proposal, kind }
  const other = { ...settings, hasHeader: proposal.hasHeader }
  return {
    ...found,
    opened: await openFile(file, format, other, signal),
    settings: other,
    lists,
    proposal,
    kind,
  }
}

/**
 * The input of a file that needs no question: usual columns, UTF-8, one sheet, valid rows, none of which differs from a
 * stored plant. `onRows` gets the number of rows so far; null if `signal` is aborted.
 */
export async function usualInput(
  { opened, proposal, settings, lists }: DetectedFile,
  compare: Compare,
  signal: AbortSignal,
  onRows: (rows: number) => void,
): Promise<ImportInput | null> {
  const columns = toColumns({ ...proposal.columns, numberFrom: '' })
  if (!opened || !proposal.isUsual || !columns || settings.encoding !== null) return null
  if (opened.table.sheets.length > 1 || lists.length > 0) return null
  let comparison: Comparison | null = null
  for await (const { rows, refused, notRead, compared } of analyze(opened, columns, compare)) {
    if (signal.aborted || refused > 0 || notRead !== null || compared === 'too many') return null
    comparison = compared === 'unread' ? null : compared
    if (comparison && comparison.differing > 0) return null
    onRows(rows)
  }
  return { opened, columns, replaces: false, compared: comparison }
}
