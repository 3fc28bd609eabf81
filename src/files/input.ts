// A file or standard input, read to its end or until interrupted.

import { accessSync, constants, createReadStream, readSync, statSync } from 'node:fs'
import { inputError, messageOf, OpenError, UsageError } from '../errors'
import { openDescriptor } from './descriptor'

// Parsing a part needs many times its size.
const PART_BYTES = 64 * 1024

// Four times a usual bundle of certificates. A device may have no end.
const TEXT_MIB = 1

/**
 * The text of a small file, such as a token or a certificate. Throws an `OpenError` if it cannot be read; `name`: its
 * name in the message.
 */
export function readText(path: string, name = path): string {
  const buffer = Buffer.alloc(TEXT_MIB * 2 ** 20 + 1)
  try {
    using file = openDescriptor(path, 'r')
    // A pipe is read in parts.
    for (let end = 0; end < buffer.length; ) {
      const length = readSync(file.fd, buffer.subarray(end))
      if (length === 0) return buffer.toString('utf8', 0, end)
      end += length
    }
  } catch (error) {
    throw inputError(error, name)
  }
  throw new OpenError(`cannot read ${name}: it is larger than ${TEXT_MIB} MiB`)
}

const OTHERS_READ = 0o004

/** True if every user can read a file. */
export const isReadByOthers = (path: string): boolean => (statSync(path).mode & OTHERS_READ) !== 0

/** The text of a file that a variable names, such as a token. Throws a `UsageError` if it cannot be read. */
export function readSecret(variable: string, path: string): string {
  try {
    return readText(path, `${variable} ${path}`)
  } catch (error) {
    throw new UsageError(messageOf(error))
  }
}

/** A stream to read, in short parts, and its length, or null if unknown. */
export type Input = { readonly stream: AsyncIterable<Uint8Array>; readonly bytes: number | null }

/** Reads a file, which is opened with its first part. */
async function* partsOf(path: string, options: { fd?: number; end?: number }) {
  yield* createReadStream(path, { ...options, highWaterMark: PART_BYTES })
}

/** Opens a file, or standard input for `-`. Throws an `OpenError` if it cannot be read. */
export function openInput(path: string): Input {
  if (path === '-') return { stream: partsOf('', { fd: 0 }), bytes: null }
  try {
    const stat = statSync(path)
    if (stat.isDirectory()) throw new UsageError(`${path} is a folder; name a file`)
    accessSync(path, constants.R_OK)
    // The files of /proc have no length.
    const bytes = stat.isFile() && stat.size > 0 ? stat.size : null
    return { stream: partsOf(path, bytes === null ? {} : { end: bytes - 1 }), bytes }
  } catch (error) {
    throw error instanceof UsageError ? error : inputError(error, path)
  }
}

/**
 * The bytes of an input until `signal` is aborted, even while waiting for more. Throws an `OpenError` if it cannot be
 * read, or if a file has another length at its end than when it was opened: its last line may be half written.
 */
export async function* readInput(
  { stream, bytes }: Input,
  path: string,
  signal: AbortSignal,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  const chunks = stream[Symbol.asyncIterator]()
  let stop = () => {}
  signal.addEventListener('abort', () => stop())
  // Not Promise.race() with one promise for the signal: until that settles, it retains every chunk.
  const readNext = () =>
    new Promise<IteratorResult<Uint8Array> | null>((resolve, reject) => {
      stop = () => resolve(null)
      chunks.next().then(resolve, (error) => reject(inputError(error, path)))
    })
  let bytesRead = 0
  while (!signal.aborted) {
    const chunk = await readNext()
    if (chunk === null || signal.aborted) return
    if (chunk.done) {
      if (bytes === null) return
      // A file that was removed meanwhile has no length.
      const length = statSync(path, { throwIfNoEntry: false })?.size ?? bytes
      if (bytesRead === bytes && length === bytes) return
      throw new OpenError('the file changed while it was read; import it again')
    }
    bytesRead += chunk.value.byteLength
    onBytes(chunk.value.byteLength)
    yield chunk.value
  }
}
