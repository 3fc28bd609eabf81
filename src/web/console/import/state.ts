// What is known of the import of a file.

export type Refused = { readonly line: number; readonly problem: string }

export type Import = {
  readonly name: string
  readonly bytes: number
  readonly bytesRead: number
  readonly rows: number
  readonly created: number
  /** Already stored, with the same fields. */
  readonly known: number
  readonly refused: number
  /** What to know about the file as a whole, such as columns that were not used. */
  readonly notices: readonly string[]
  /** The first refused lines. */
  readonly lines: readonly Refused[]
  /** All refused rows as a file, if there are any. */
  readonly refusedRows: (() => Blob) | null
  readonly state: 'opening' | 'asking' | 'running' | 'done' | 'stopped' | 'failed' | 'cancelled'
  /** Which rows were not read, and why; null: all were. */
  readonly notRead: string | null
  /** Why it was not begun. */
  readonly reason: string | null
  /** True if it failed because of what is in the file. */
  readonly isOfFile: boolean
}
