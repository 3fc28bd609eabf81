// Makes files and folders durable.

import { fsyncSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { openDescriptor } from './descriptor'

/** Makes a folder's entries durable: files created or renamed in it survive a loss of power. */
export function syncFolder(folder: string): void {
  using opened = openDescriptor(folder, 'r')
  fsyncSync(opened.fd)
}

/** Makes a file durable. A disk may take seconds, in which signals are answered. */
export async function syncFile(path: string): Promise<void> {
  await using file = await open(path, 'r+')
  await file.sync()
}
