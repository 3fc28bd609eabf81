// Standard output and error of the daemon, which must not wait for their readers.
import { write } from 'node:fs'
import { codeOf } from '../errors'

// A write of at most this size to a pipe never mixes with another program's (PIPE_BUF, pipe(7)).
const ATOMIC_BYTES = 4096
const QUEUE_BYTES = 1024 * 1024
const RETRY_MS = 10
const NEWLINE = 10

export type LogWriter = ReturnType<typeof createLogWriter>

/**
 * Writes lines to an open file, pipe, socket or terminal, in order, and never waits: one of Bun's threads does. A line is
 * dropped if a megabyte is waiting already, or if it cannot be written, as on a full disk. `describeDropped` makes a line
 * that says how many, which precedes the next line that is written.
 */
export function createLogWriter(fd: number, describeDropped: (lines: number) => string) {
  const queue: Buffer[] = []
  let queuedBytes = 0
  let dropped = 0
  let reported = 0
  let isWriting = false
  let isMidLine = false
  const waiting: (() => void)[] = []

  function take(): Buffer[] {
    let bytes = 0
    const end = queue.findIndex((line, index) => {
      bytes += line.length
      return index > 0 && bytes > ATOMIC_BYTES
    })
    const lines = queue.splice(0, end < 0 ? queue.length : end)
    for (const line of lines) queuedBytes -= line.length
    return lines
  }

  function writeNext(): void {
    isWriting = queue.length > 0
    if (!isWriting) {
      for (const resolve of waiting.splice(0)) resolve()
      return
    }
    const lines = take()
    const total = dropped
    const notice = total > reported ? Buffer.from(describeDropped(total - reported)) : null
    const bytes = Buffer.concat(notice ? [notice, ...lines] : lines)
    send(isMidLine ? Buffer.concat([Buffer.of(NEWLINE), bytes]) : bytes, (isWritten) => {
      if (isWritten) reported = total
      else dropped += lines.length
      writeNext()
    })
  }

  function send(bytes: Buffer, onEnd: (isWritten: boolean) => void): void {
    write(fd, bytes, 0, bytes.length, null, (error, written) => {
      if (error) {
        // Another program that shares the pipe may have made it non-blocking.
        if (codeOf(error) === 'EAGAIN') setTimeout(() => send(bytes, onEnd), RETRY_MS)
        else onEnd(false)
        return
      }
      if (written > 0) isMidLine = bytes[written - 1] !== NEWLINE
      if (written < bytes.length) send(bytes.subarray(written), onEnd)
      else onEnd(true)
    })
  }

  return {
    write(line: string): void {
      const bytes = Buffer.from(line)
      if (queuedBytes + bytes.length > QUEUE_BYTES) {
        dropped += 1
        return
      }
      queue.push(bytes)
      queuedBytes += bytes.length
      if (!isWriting) writeNext()
    },
    /** How many lines were dropped so far. */
    dropped: (): number => dropped,
    /** Resolves to true once everything is written, or to false after this many milliseconds. */
    async flush(milliseconds: number): Promise<boolean> {
      if (!isWriting) return true
      const { promise, resolve } = Promise.withResolvers<boolean>()
      const timer = setTimeout(() => resolve(false), milliseconds)
      waiting.push(() => resolve(true))
      await promise
      clearTimeout(timer)
      return promise
    },
  }
}
