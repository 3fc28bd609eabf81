// The state of an import.

import type { RefusedGroup } from './refused-groups.ts'

export type Import = {
  readonly name: string
  readonly bytes: number
  readonly bytesRead: number
  /** Rows that were compared with the stored plants before the import. */
  readonly checked: number
  readonly rows: number
  readonly created: number
  /** Already stored, with the same fields. */
  readonly known: number
  /** Stored with other fields before. */
  readonly replaced: number
  readonly refused: number
  /** Rows without a name that are stored now. */
  readonly emptyNames: number
  /** Notices about the whole file, such as unused columns. */
  readonly notices: readonly string[]
  /** The refused rows by their causes, up to a limit. */
  readonly groups: readonly RefusedGroup[]
  /** All refused rows as a file, if there are any. */
  readonly refusedRows: (() => Blob) | null
  readonly state: 'opening' | 'asking' | 'running' | 'done' | 'stopped' | 'failed' | 'cancelled'
  /** The rows that were not read, and the reason; null: all were read. */
  readonly notRead: string | null
  /** The reason if it could not start. */
  readonly reason: string | null
  /** True if the content of the file caused the failure. */
  readonly isOfFile: boolean
}
