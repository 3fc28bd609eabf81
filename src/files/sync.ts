// Makes files and folders durable.

import { fstatSync, fsyncSync } from 'node:fs'
import { openDescriptor } from './descriptor'
import { writeBack } from './libc'

const PART_BYTES = 1024 * 1024
const PAUSE_MS = 1

/** Makes a folder's entries durable: files created or renamed in it survive a loss of power. */
export function syncFolder(folder: string): void {
  using opened = openDescriptor(folder, 'r')
  fsyncSync(opened.fd)
}

/**
 * Makes a file durable, in parts with a pause after each, so that the short fsyncs of a daemon on the same disk need
 * not wait for a long one. `onBytes` is called after each part, and may throw to cancel.
 */
export async function syncFile(
  path: string,
  onBytes: (doneBytes: number, total: number) => void = () => {},
): Promise<void> {
  // A descriptor reports a write error only once: the fsync needs one that no part has used.
  using whole = openDescriptor(path, 'r+')
  using parts = openDescriptor(path, 'r+')
  const { size } = fstatSync(parts.fd)
  for (let offset = 0; offset < size; offset += PART_BYTES) {
    writeBack(parts.fd, offset, PART_BYTES)
    onBytes(Math.min(offset + PART_BYTES, size), size)
    await Bun.sleep(PAUSE_MS)
  }
  fsyncSync(whole.fd)
}
