// Copies a file that is open, in parts, with a rest after each.

import { closeSync, openSync, readSync, writeSync } from 'node:fs'

const PART_BYTES = 1024 * 1024
const REST_MS = 1

/**
 * Writes all that an open file holds to a new file, which is not synced. `onBytes` is told of each part, and may throw
 * to end it. The rests leave the disk and half of a core to a daemon.
 */
export async function copyBytes(
  from: number,
  to: string,
  onBytes: (bytes: number) => void = () => {},
): Promise<void> {
  const made = openSync(to, 'wx', 0o600)
  try {
    const part = Buffer.alloc(PART_BYTES)
    for (let at = 0; ; ) {
      const read = readSync(from, part, 0, PART_BYTES, at)
      if (read === 0) return
      for (let sent = 0; sent < read; ) sent += writeSync(made, part, sent, read - sent)
      at += read
      onBytes(read)
      await Bun.sleep(REST_MS)
    }
  } finally {
    closeSync(made)
  }
}
