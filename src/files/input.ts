// A file or standard input, read to its end or until interrupted.

import { accessSync, constants, createReadStream, readSync, statSync } from 'node:fs'
import { inputError, messageOf, OpenError, UsageError } from '../errors'
import { openDescriptor } from './descriptor'

// Bun reads files in chunks of 512 KB. They are split, as parsing a part needs many times its size.
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

/** A stream to read, and its length; null: not known. */
export type Input = { readonly stream: AsyncIterable<Uint8Array>; readonly bytes: number | null }

/** Opens a file, or standard input for `-`. Throws an `OpenError` if it cannot be read. */
export function openInput(path: string): Input {
  if (path === '-') return { stream: Bun.stdin.stream(), bytes: null }
  try {
    const stat = statSync(path)
    if (stat.isDirectory()) throw new UsageError(`${path} is a folder; name a file`)
    accessSync(path, constants.R_OK)
    // Bun cannot poll some devices, /dev/null among them.
    const isDevice = stat.isCharacterDevice() || stat.isBlockDevice()
    const stream = isDevice ? createReadStream(path) : Bun.file(path).stream()
    // The files of /proc have no length.
    return { stream, bytes: stat.isFile() && stat.size > 0 ? stat.size : null }
  } catch (error) {
    throw error instanceof UsageError ? error : inputError(error, path)
  }
}

/** True if a file has another length than when it was opened. `isOver`: nothing follows what was read. */
function hasChanged(
  path: string,
  bytes: number | null,
  bytesRead: number,
  isOver: boolean,
): boolean {
  if (bytes === null) return false
  if (!isOver) return bytesRead > bytes
  // A file that was removed meanwhile has been read whole.
  const { size = bytes } = statSync(path, { throwIfNoEntry: false }) ?? {}
  return bytesRead !== bytes || size !== bytes
}

/**
 * The bytes of an input, in short parts, until `signal` is aborted, even while waiting for more. Throws an
 * `OpenError` if it cannot be read, or if a file has another length at its end than when it was opened: its last line
 * may be half written.
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
    bytesRead += chunk.value?.byteLength ?? 0
    if (hasChanged(path, bytes, bytesRead, chunk.done === true))
      throw new OpenError(CHANGED_MESSAGE)
    if (chunk.done) return
    onBytes(chunk.value.byteLength)
    for (let start = 0; start < chunk.value.byteLength; start += PART_BYTES) {
      yield chunk.value.subarray(start, start + PART_BYTES)
    }
  }
}
