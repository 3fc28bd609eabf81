// Copies an open file in parts, with a pause after each.

import { readSync, writeSync } from 'node:fs'
import { openDescriptor } from './descriptor'

const PART_BYTES = 1024 * 1024
const PAUSE_MS = 1

/**
 * Copies an open file to a new one, which is not synced. `onBytes` is called after each part, and may throw to cancel.
 * The pauses leave the disk and half of a core to a daemon.
 */
export async function copyBytes(
  source: number,
  path: string,
  onBytes: (bytes: number) => void = () => {},
): Promise<void> {
  using target = openDescriptor(path, 'wx', 0o600)
  const part = Buffer.alloc(PART_BYTES)
  for (let offset = 0; ; ) {
    const length = readSync(source, part, 0, PART_BYTES, offset)
    if (length === 0) return
    for (let position = 0; position < length; )
      position += writeSync(target.fd, part, position, length - position)
    offset += length
    onBytes(length)
    await Bun.sleep(PAUSE_MS)
  }
}
