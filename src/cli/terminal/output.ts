// Standard output and error of a command, which waits for their readers.

import { fstatSync, writeSync } from 'node:fs'
import { codeOf, messageOf, OpenError } from '../../errors'
import type { Output } from '../command'

const PAUSE_MS = 1
// Its major number is 1, its minor number 3 (null(4)). Bun opens it in place of a stream that is closed.
const NULL_DEVICE = 0x103

/** Writes a text to an open file, pipe or terminal; false if its reader has gone. Throws if it cannot be written. */
export function writeAll(fd: number, text: string): boolean {
  const bytes = Buffer.from(text)
  for (let sent = 0; sent < bytes.length; ) {
    try {
      sent += writeSync(fd, bytes, sent)
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
export const isNullDevice = (fd: number): boolean => fstatSync(fd).rdev === NULL_DEVICE

// Not `process.stdout`: loading Node's streams takes as long as loading everything else.
function createOutput(fd: number, onError: (error: unknown) => void): Output {
  return {
    // A terminal is a character device; so is /dev/null, where it does not matter.
    isTTY: fstatSync(fd).isCharacterDevice(),
    isDiscarded: isNullDevice(fd),
    write(text) {
      try {
        return writeAll(fd, text)
      } catch (error) {
        onError(error)
        return true
      }
    },
  }
}

export const standardOutput = (): Output =>
  createOutput(1, (error) => {
    throw new OpenError(`cannot write to standard output: ${messageOf(error)}`, true)
  })

/** Standard error. If it cannot be written, there is nowhere to say so. */
export const standardError = (): Output => createOutput(2, () => {})
