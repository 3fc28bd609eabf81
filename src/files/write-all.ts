// Writes all of a text, and waits for a slow reader.

import { writeSync } from 'node:fs'
import { codeOf } from '../errors'

const PAUSE_MS = 1

/** Writes a text to an open file, pipe or terminal. Throws if it cannot be written. */
export function writeAll(fd: number, text: string): void {
  const bytes = Buffer.from(text)
  for (let sent = 0; sent < bytes.length; ) {
    try {
      sent += writeSync(fd, bytes, sent)
    } catch (error) {
      // The pipe is full, and another program has made it non-blocking.
      if (codeOf(error) !== 'EAGAIN') throw error
      Bun.sleepSync(PAUSE_MS)
    }
  }
}
