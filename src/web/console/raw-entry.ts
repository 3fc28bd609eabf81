// What a file holds, before it is known whether that is a plant.

/** A file that cannot be read on. */
export class FileError extends Error {
  override readonly name = 'FileError'
}

/** The value of a line, or what is wrong with it. */
export type RawEntry = { readonly line: number } & (
  | { readonly value: unknown }
  | { readonly problem: string }
)
