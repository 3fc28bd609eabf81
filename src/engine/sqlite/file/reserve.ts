// A file that reserves space, so that a token can be revoked on a full disk.

import { rmSync, statSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { codeOf } from '../../../errors'
import { openDescriptor } from '../../../files/descriptor'
import { giveAsRoot } from '../../../files/owner'
import { fileSize } from './database-file'

// The write-ahead log and its index of a database that nobody serves, which XFS does not always make in 256 KB, or some
// twenty revocations beside a daemon.
const BYTES = 512 * 1024
const BLOCK_BYTES = 4096

const reserveOf = (path: string): string => `${path}.reserve`

// Random, as a file system may compress or omit zeros.
function fill(fd: number): void {
  for (let size = 0; size < BYTES; size += BLOCK_BYTES) {
    writeSync(fd, crypto.getRandomValues(new Uint8Array(BLOCK_BYTES)))
  }
}

/** Makes the reserve of a database, unless it exists; on a full disk, with the space left. Throws if that fails. */
export function makeReserve(path: string): void {
  const reserve = reserveOf(path)
  if (fileSize(reserve) >= BYTES) return
  rmSync(reserve, { force: true })
  using file = openDescriptor(reserve, 'wx', 0o600)
  try {
    giveAsRoot(file.fd, statSync(dirname(path)))
    fill(file.fd)
  } catch (error) {
    if (!['ENOSPC', 'EDQUOT'].includes(codeOf(error))) throw error
  }
}

/** Frees the space of the reserve; false if there is none. */
export function releaseReserve(path: string): boolean {
  if (fileSize(reserveOf(path)) === 0) return false
  rmSync(reserveOf(path), { force: true })
  return true
}
