// A file or standard input, read to its end or until interrupted.

import { accessSync, constants, createReadStream, readSync, statSync } from 'node:fs'
import { inputError, messageOf, OpenError, UsageError } from '../errors'
import { openDescriptor } from './descriptor'

// Parsing a part needs many times its size.
const PART_BYTES = 64 * 1024

// Four times a usual bundle of certificates. A device may have no end.
const TEXT_MIB = 1

/** The bytes of a file or pipe, as many as the buffer takes. */
function readInto(buffer: Buffer, path: string): Buffer {
  using file = openDescriptor(path, 'r')
  let end = 0
  for (;;) {
    const length = readSync(file.fd, buffer.subarray(end))
    if (length === 0) return buffer.subarray(0, end)
    end += length
  }
}

/**
 * The text of a small file, such as a token or a certificate. Throws an `OpenError` if it cannot be read; `name`: its
 * name in the message.
 */
export function readText(path: string, name = path): string {
  const buffer = Buffer.alloc(TEXT_MIB * 2 ** 20 + 1)
  try {
    const bytes = readInto(buffer, path)
    if (bytes.length < buffer.length) return bytes.toString()
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

const CHANGED_MESSAGE = 'the file changed while it was read; import it again'

/** A stream to read, in short parts, and its length; null: not known. */
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
    if (!stat.isFile() || stat.size === 0) return { stream: partsOf(path, {}), bytes: null }
    return { stream: partsOf(path, { end: stat.size - 1 }), bytes: stat.size }
  } catch (error) {
    throw error instanceof UsageError ? error : inputError(error, path)
  }
}

/** The length of a file that has been read; of one that was removed meanwhile, that of its part that was read. */
const lengthOf = (path: string, bytesRead: number): number =>
  statSync(path, { throwIfNoEntry: false })?.size ?? bytesRead

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
      const isWhole = bytes === null || (bytesRead === bytes && lengthOf(path, bytes) === bytes)
      if (isWhole) return
      throw new OpenError(CHANGED_MESSAGE)
    }
    bytesRead += chunk.value.byteLength
    onBytes(chunk.value.byteLength)
    yield chunk.value
  }
}
