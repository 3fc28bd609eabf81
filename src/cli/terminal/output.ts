// Standard output and error of a command. Writing waits for the reader.

import { fstatSync, writeSync } from 'node:fs'
import { codeOf, OpenError, reasonOf } from '../../errors'
import type { Output } from '../command'

const PAUSE_MS = 1
// Major number 1, minor number 3 (null(4)). Bun opens it in place of a closed stream.
const NULL_DEVICE = 0x103

/** Writes to an open file, pipe or terminal; false if its reader has closed it. Throws if writing fails. */
export function writeAll(fd: number, output: string | Uint8Array): boolean {
  const bytes = typeof output === 'string' ? Buffer.from(output) : output
  for (let offset = 0; offset < bytes.length; ) {
    try {
      offset += writeSync(fd, bytes, offset)
    } catch (error) {
      const code = codeOf(error)
      if (code === 'EPIPE') return false
      // The pipe is full, and another program has made it non-blocking.
      if (code !== 'EAGAIN') throw error
      Bun.sleepSync(PAUSE_MS)
    }
  }
  return true
}

/** True if an open file is /dev/null. */
const isNullDevice = (fd: number): boolean => fstatSync(fd).rdev === NULL_DEVICE

// Not `process.stdout`: loading Node's streams takes as long as loading everything else.
function createOutput(fd: number, onError: (error: unknown) => void): Output {
  return {
    // A terminal is a character device. So is /dev/null, where the difference does not matter.
    isTTY: fstatSync(fd).isCharacterDevice(),
    isDiscarded: isNullDevice(fd),
    write(output) {
      try {
        return writeAll(fd, output)
      } catch (error) {
        onError(error)
        return true
      }
    },
  }
}

/** Standard output. Writing throws an `OpenError` if it fails. */
export const standardOutput = (): Output =>
  createOutput(1, (error) => {
    throw new OpenError(`cannot write to standard output: ${reasonOf(error)}`, true)
  })

/** Standard error. Its own write errors are ignored. */
export const standardError = (): Output => createOutput(2, () => {})
