// Standard output and error of a command, which waits for their readers.

import { fstatSync } from 'node:fs'
import type { Output } from '../command'
import { codeOf, OpenError } from '../errors'
import { writeAll } from '../files/write-all'

// Not `process.stdout`: loading Node's streams takes as long as loading everything else.
function createOutput(fd: number, onError: (error: Error) => void): Output {
  let isRead = true
  return {
    // A terminal is a character device; so is /dev/null, where it does not matter.
    isTTY: fstatSync(fd).isCharacterDevice(),
    write(text) {
      try {
        if (isRead) writeAll(fd, text)
      } catch (error) {
        isRead = codeOf(error) !== 'EPIPE'
        if (isRead) onError(error as Error)
      }
      return isRead
    },
  }
}

export const standardOutput = (): Output =>
  createOutput(1, ({ message }) => {
    throw new OpenError(`cannot write to standard output: ${message}`, true)
  })

/** Standard error. If it cannot be written, there is nowhere to say so. */
export const standardError = (): Output => createOutput(2, () => {})
