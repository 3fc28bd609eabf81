// Makes files and folders durable.

import { closeSync, fstatSync, fsyncSync, openSync } from 'node:fs'
import { writeBack } from './libc'

const PART_BYTES = 1024 * 1024
const REST_MS = 1

/** Makes a folder's entries durable: files created or renamed in it survive a loss of power. */
export function syncFolder(folder: string): void {
  const fd = openSync(folder, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

/**
 * Makes a file durable, in parts with a pause after each, so that the short fsyncs of a daemon on the same disk need
 * not wait for a long one. `onBytes` is called after each part, and may throw to cancel.
 */
export async function syncFile(
  path: string,
  onBytes: (done: number, total: number) => void = () => {},
): Promise<void> {
  // A descriptor reports a write error only once: the fsync needs one that no part has used.
  const synced = openSync(path, 'r+')
  const written = openSync(path, 'r+')
  try {
    const { size } = fstatSync(written)
    for (let at = 0; at < size; at += PART_BYTES) {
      writeBack(written, at, PART_BYTES)
      onBytes(Math.min(at + PART_BYTES, size), size)
      await Bun.sleep(REST_MS)
    }
    fsyncSync(synced)
  } finally {
    closeSync(written)
    closeSync(synced)
  }
}
