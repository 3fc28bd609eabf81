// Opens a file with the settings that its questions propose.

import { OpenError } from '../../../errors.ts'
import type { Columns } from '../../../formats/columns.ts'
import { Question, type Settings, USUAL_SETTINGS } from '../../../formats/question.ts'
import { reasonOf } from './advice.ts'
import { NO_PROPOSAL, type Proposal, propose } from './column-proposal.ts'
import type { Comparison } from './compare.ts'
import { openFile, type ReadableFile } from './readable-file.ts'

export type ImportInput = {
  readonly readable: ReadableFile
  readonly columns: Columns
  /** True if plants that differ from the stored ones replace them. */
  readonly replaces: boolean
  /** The comparison with the stored plants, or null if not all of them were read. */
  readonly comparison: Comparison | null
}

/** A file with its detected settings. */
export type DetectedFile = {
  readonly file: File
  /** Null until the user has answered the question. */
  readonly readable: ReadableFile | null
  /** The question, or null if it is readable. */
  readonly problem: string | null
  readonly settings: Settings
  /** The paths of the lists of a JSON file that has several; the first is proposed. */
  readonly lists: readonly string[]
  readonly proposal: Proposal
}

/** Identifies a file: importing it again numbers its rows as before. */
export const fileKey = ({ name, size, lastModified }: File): string =>
  JSON.stringify([name, size, lastModified])

/** Opens a file with other settings, for which columns are proposed. */
export async function reopen(
  detection: DetectedFile,
  change: Partial<Settings>,
  signal: AbortSignal,
): Promise<DetectedFile & { readonly readable: ReadableFile }> {
  const settings = { ...detection.settings, ...change }
  const readable = await openFile(detection.file, settings, signal)
  if (readable.table.header.length === 0) throw new OpenError('the file is empty')
  return { ...detection, readable, settings, proposal: propose(readable.table) }
}

/**
 * Opens a file, and answers questions as they propose, until `signal` is aborted. Throws an `OpenError` with a fix if the
 * file cannot be read.
 */
export async function detectFile(file: File, signal: AbortSignal): Promise<DetectedFile> {
  let detection: DetectedFile = {
    file,
    readable: null,
    problem: null,
    settings: USUAL_SETTINGS,
    lists: [],
    proposal: NO_PROPOSAL,
  }
  let change: Partial<Settings> = {}
  do {
    try {
      detection = await reopen(detection, change, signal)
      change = detection.proposal.settings
    } catch (error) {
      if (!(error instanceof Question)) throw error
      const { lists, settings } = error
      const [list] = lists
      change = list === undefined ? settings : { list }
      detection = { ...detection, lists }
      if (change.encoding === null) return { ...detection, problem: reasonOf(error) }
    }
  } while (Object.keys(change).length > 0)
  return detection
}

/** True if nothing about the reading of a file is open: usual columns and settings, one sheet or list. */
export const isCertain = ({ readable, proposal, settings }: DetectedFile): boolean =>
  readable !== null &&
  readable.table.sheets.length <= 1 &&
  proposal.isUsual &&
  Object.entries(USUAL_SETTINGS).every(
    ([name, value]) => settings[name as keyof Settings] === value,
  )
