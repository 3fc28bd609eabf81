// The state of an import, as the page shows it.

import type { ImportInput } from './detect-file.ts'
import type { RefusedGroup } from './refused-groups.ts'

export type Import = {
  readonly file: File
  /** The way to read the file; null until it is chosen. */
  readonly input: ImportInput | null
  readonly bytesRead: number
  /** Rows that were compared with the stored plants before the import. */
  readonly comparedRows: number
  readonly rows: number
  readonly created: number
  /** Rows whose plants are already stored, with the same fields. */
  readonly skipped: number
  /** Rows that replaced a stored plant. */
  readonly replaced: number
  readonly refused: number
  /** Stored rows whose name is empty. */
  readonly emptyNames: number
  /** Notices about the whole file, such as unused columns. */
  readonly notices: readonly string[]
  /** The refused rows by cause, up to a limit. */
  readonly groups: readonly RefusedGroup[]
  /** All refused rows as a file, if there are any. */
  readonly refusedRows: (() => Blob) | null
  readonly state: 'opening' | 'asking' | 'running' | 'done' | 'stopped' | 'failed' | 'cancelled'
  /** The rows that were not read, and the reason; null: all were read. */
  readonly unreadReason: string | null
  /** The reason that it could not start; null: it did. */
  readonly reason: string | null
  /** True if the content of the file caused the failure. */
  readonly isFileError: boolean
}
