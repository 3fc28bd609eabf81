// Copies an open file in parts, with a pause after each.

import { closeSync, openSync, readSync, writeSync } from 'node:fs'

const PART_BYTES = 1024 * 1024
const REST_MS = 1

/**
 * Copies an open file to a new one, which is not synced. `onBytes` is called after each part, and may throw to cancel.
 * The pauses leave the disk and half of a core to a daemon.
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
