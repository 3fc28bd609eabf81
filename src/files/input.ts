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

/** The text of a file that a variable names, such as a token. Throws a `UsageError` if it cannot be read. */
export function readSecret(variable: string, path: string): string {
  try {
    return readText(path, `${variable} ${path}`)
  } catch (error) {
    throw new UsageError(messageOf(error))
  }
}

/**
 * The bytes of a file, which can be read from its beginning again; null for others, such as a pipe, or `-` for standard
 * input. Throws an `OpenError` or a `UsageError` if the file cannot be read.
 */
export function inputBytes(path: string): number | null {
  if (path === '-') return null
  try {
    accessSync(path, constants.R_OK)
  } catch (error) {
    throw inputError(error, path)
  }
  const stat = statSync(path)
  if (stat.isDirectory()) throw new UsageError(`${path} is a folder; name a file`)
  // The files of /proc have no length, as devices and pipes.
  return stat.size || null
}

/**
 * Reads a file, or standard input for `-`, in short parts until `signal` is aborted, even while waiting for more.
 * `bytes`: its length. Throws an `OpenError` if it cannot be read, or if a file has another length at its end than when
 * it was opened: its last line may be half written.
 */
export async function* readInput(
  path: string,
  bytes: number | null,
  signal: AbortSignal,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  // Loaded only if used, as a daemon never does.
  const { ReadableStream } = await import('node:stream/web')
  const options = { highWaterMark: PART_BYTES, ...(path === '-' && { fd: 0 }) }
  const reader = ReadableStream.from(createReadStream(path, options)).getReader()
  signal.addEventListener('abort', () => reader.cancel().catch(() => {}))
  let bytesRead = 0
  while (!signal.aborted) {
    const { value } = await reader.read().catch((error) => {
      throw inputError(error, path)
    })
    if (signal.aborted) return
    if (!value) {
      if (bytes === null) return
      // A file that was removed meanwhile has no length.
      const length = statSync(path, { throwIfNoEntry: false })?.size ?? bytes
      if (bytesRead === bytes && length === bytes) return
      throw new OpenError('the file changed while it was read; import it again')
    }
    bytesRead += value.byteLength
    onBytes(value.byteLength)
    yield value
  }
}
