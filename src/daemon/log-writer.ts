// Standard output and error of the daemon, which never wait for their readers.

import { write } from 'node:fs'
import { codeOf } from '../errors'

// A write of at most this size to a pipe never interleaves with another program's (PIPE_BUF, pipe(7)).
const ATOMIC_BYTES = 4096
const QUEUE_BYTES = 1024 * 1024
const RETRY_MS = 10
const NEWLINE = 10

export type LogWriter = {
  /** Queues a line, which ends with a newline, or drops it. */
  write(line: string): void
  /** Resolves to true once everything is written, or to false after this many milliseconds, or if lines were dropped. */
  flush(milliseconds: number): Promise<boolean>
}

/** Writes some of the bytes to an open file, in one of Bun's threads; resolves to their number. */
const writeSome = (fd: number, bytes: Buffer): Promise<number> =>
  new Promise((resolve, reject) => {
    write(fd, bytes, 0, bytes.length, null, (error, byteCount) =>
      error ? reject(error) : resolve(byteCount),
    )
  })

/**
 * Writes lines to an open file, pipe, socket or terminal, in order and without blocking: one of Bun's threads does. A
 * line is dropped if a megabyte is queued, or if it cannot be written, as on a full disk. `describeDropped` makes a
 * line with the number dropped, which precedes the next line written.
 */
export function createLogWriter(fd: number, describeDropped: (lines: number) => string): LogWriter {
  const queue: Buffer[] = []
  let queuedBytes = 0
  // Not yet reported.
  let droppedLines = 0
  let isMidLine = false
  // Settles when the queue is empty; null if it is.
  let writing: Promise<void> | null = null

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

  /** Writes all bytes; false if that fails. */
  async function send(bytes: Buffer): Promise<boolean> {
    for (let rest = bytes; rest.length > 0; ) {
      try {
        const byteCount = await writeSome(fd, rest)
        if (byteCount > 0) isMidLine = rest[byteCount - 1] !== NEWLINE
        rest = rest.subarray(byteCount)
      } catch (error) {
        // Another program that shares the pipe may have made it non-blocking.
        if (codeOf(error) !== 'EAGAIN') return false
        await Bun.sleep(RETRY_MS)
      }
    }
    return true
  }

  async function writeQueue(): Promise<void> {
    while (queue.length > 0) {
      const lines = take()
      const count = droppedLines
      const notice = count > 0 ? [Buffer.from(describeDropped(count))] : []
      const end = isMidLine ? [Buffer.of(NEWLINE)] : []
      if (await send(Buffer.concat([...end, ...notice, ...lines]))) droppedLines -= count
      else droppedLines += lines.length
    }
    writing = null
  }

  return {
    write(line) {
      const bytes = Buffer.from(line)
      if (queuedBytes + bytes.length > QUEUE_BYTES) {
        droppedLines += 1
        return
      }
      queue.push(bytes)
      queuedBytes += bytes.length
      writing ??= writeQueue()
    },
    async flush(milliseconds) {
      const end = writing?.then(() => true) ?? true
      const isWritten = await Promise.race([end, Bun.sleep(milliseconds).then(() => false)])
      return isWritten && droppedLines === 0
    },
  }
}
