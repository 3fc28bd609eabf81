// The state of an import, as the page shows it.

import type { VNode } from 'preact'
import type { Session } from '../session.ts'
import type { UndoItem } from '../undo/undo-history.ts'
import type { ImportInput } from './detect-file.ts'
import type { RefusedGroup } from './refused-groups.ts'

type ImportState = 'opening' | 'running' | 'done' | 'stopped' | 'failed' | 'cancelled'

/** An import before its start; each step replaces it by a copy with other fields. */
export class Import {
  /** The way to read the file; null until it is chosen. */
  readonly input: ImportInput | null = null
  readonly bytesRead: number = 0
  readonly rows: number = 0
  readonly created: number = 0
  /** Rows whose plants are already stored, with the same fields. */
  readonly skipped: number = 0
  /** Rows that replaced a stored plant. */
  readonly replaced: number = 0
  readonly refused: number = 0
  /** Stored rows whose name is empty. */
  readonly emptyNames: number = 0
  /** Notices about the whole file, such as unused columns. */
  readonly notices: readonly string[] = []
  /** The refused rows by cause, up to a limit. */
  readonly groups: readonly RefusedGroup[] = []
  /** All refused rows as a file, if there are any. */
  readonly refusedRows: (() => Blob) | null = null
  readonly state: ImportState = 'opening'
  /** The questions about the file. */
  readonly form: VNode | null = null
  /** The rows that were not read, and the reason, or null if all were read. */
  readonly unreadReason: string | null = null
  /** The reason that it could not start, or null if it did. */
  readonly reason: string | null = null
  /** True if the content of the file caused the failure. */
  readonly isFileError: boolean = false

  constructor(readonly file: File) {}
}

/** The parts of the console that an import uses. */
export type ImportContext = {
  readonly session: Session
  /** The first number of each file so far: importing it again numbers its rows as before. */
  readonly firstNumbers: Map<string, string>
  readonly signal: AbortSignal
  readonly update: (change: (before: Import) => Partial<Import>) => void
  /** Called with the changes. */
  readonly onDone: (act: UndoItem) => void
}
