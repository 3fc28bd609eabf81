import { writeSync } from 'node:fs'
import { codeOf } from '../errors'

const PAUSE_MS = 1

/** Writes all of a text to a file, a pipe or a terminal that is open, and waits for whoever reads that. */
export function writeAll(fd: number, text: string): void {
  const bytes = Buffer.from(text)
  for (let sent = 0; sent < bytes.length; ) {
    try {
      sent += writeSync(fd, bytes, sent)
    } catch (error) {
      // A pipe that is full, and that another program has made one that does not wait.
      if (codeOf(error) !== 'EAGAIN') throw error
      Bun.sleepSync(PAUSE_MS)
    }
  }
}
