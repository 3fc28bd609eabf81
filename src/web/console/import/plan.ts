// How a file is to be imported: found out, if it fits, or else asked for.

import { OpenError } from '../../../errors.ts'
import type { Columns } from '../../../formats/columns.ts'
import type { Format } from '../../../formats/format.ts'
import { type Settings, USUAL_SETTINGS } from '../../../formats/table.ts'
import { type Choice, type Proposal, propose, toColumns } from './choice.ts'
import { examine } from './examine.ts'
import { findEncoding, findFormat, type OpenedFile, openFile } from './file.ts'

export type Plan = {
  readonly opened: OpenedFile
  readonly columns: Columns
}

/** A file that was looked at. */
export type Look = {
  readonly file: File
  readonly format: Format
  readonly opened: OpenedFile
  readonly settings: Settings
  readonly proposal: Proposal
  /** What its header is, to know another file of this kind. */
  readonly kind: string
}

/** What was chosen for a file of a kind. */
export type Remembered = {
  readonly settings: Settings
  readonly choice: Choice
  /** Which file it was: it is numbered again as it was before. */
  readonly file: string
}

/** What was chosen in this tab, by kind of file. */
export type Memory = Map<string, Remembered>

export const nameFile = ({ name, size, lastModified }: File): string =>
  JSON.stringify([name, size, lastModified])

async function hasNames({ table }: OpenedFile): Promise<boolean> {
  const { choice, headerRow } = await propose(table)
  return choice.name !== null || headerRow !== null
}

/** A workbook whose first sheet has no column of names may have one on another. */
async function findSheet(file: File, opened: OpenedFile): Promise<OpenedFile> {
  if (await hasNames(opened)) return opened
  for (const sheet of opened.table.sheets.slice(1)) {
    const other = await openFile(file, 'xlsx', { ...USUAL_SETTINGS, sheet })
    if (await hasNames(other)) return other
  }
  return opened
}

const JSON_SHAPE = 'expected a JSON array of objects, or one object per line'

/** Why a file has no columns: it is empty, or no line of it can be read, as of JSON with another shape. */
async function explainNothing({ rows }: OpenedFile): Promise<string> {
  for await (const [first] of rows()) {
    if (first && 'problem' in first) return `${JSON_SHAPE}; line ${first.line}: ${first.problem}`
    if (first && 'stop' in first) return `line ${first.line}: ${first.stop}`
  }
  return 'the file is empty'
}

/** Opens a file as its first rows suggest. Throws an `OpenError` that says what to do if it cannot be read. */
export async function look(file: File): Promise<Look> {
  const format = await findFormat(file)
  const encoding = format === 'xlsx' ? null : await findEncoding(file)
  const first = await openFile(file, format, { ...USUAL_SETTINGS, encoding })
  const opened = format === 'xlsx' ? await findSheet(file, first) : first
  const settings = { ...USUAL_SETTINGS, encoding, sheet: opened.table.sheet }
  const { header } = opened.table
  if (header.length === 0) throw new OpenError(await explainNothing(opened))
  const kind = JSON.stringify([format, header])
  const proposal = await propose(opened.table)
  const { headerRow } = proposal
  if (headerRow !== null) {
    const below = { ...settings, headerRow }
    const table = await openFile(file, format, below)
    return {
      file,
      format,
      opened: table,
      settings: below,
      proposal: { ...(await propose(table.table)), isUsual: false },
      kind,
    }
  }
  if (proposal.hasHeader === settings.hasHeader || format === 'json' || format === 'ndjson')
    return { file, format, opened, settings, proposal, kind }
  const other = { ...settings, hasHeader: proposal.hasHeader }
  return {
    file,
    format,
    opened: await openFile(file, format, other),
    settings: other,
    proposal,
    kind,
  }
}

const FIRST_ROWS = 1000

/** The plan of a file that needs no question: usual columns, UTF-8, one sheet, and nothing wrong in the first rows. */
export async function planOf({ opened, proposal, settings }: Look): Promise<Plan | null> {
  const columns = toColumns({ ...proposal.choice, numberFrom: '' })
  if (!proposal.isUsual || !columns || settings.encoding !== null) return null
  if (opened.table.sheets.length > 1) return null
  for await (const { rows, refused, notRead } of examine(opened, columns)) {
    if (refused > 0 || notRead !== null) return null
    if (rows >= FIRST_ROWS) break
  }
  return { opened, columns }
}
