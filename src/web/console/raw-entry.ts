// A line of a file before it is checked to be a plant.

/** A file that cannot be read any further. */
export class FileError extends Error {
  override readonly name = 'FileError'
}

/** The value on a line, or what is wrong with it. */
export type RawEntry = { readonly line: number } & (
  | { readonly value: unknown }
  | { readonly problem: string }
)
