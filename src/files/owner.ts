// The owner of files that root makes where another user's service works.

import { fchownSync, type Stats } from 'node:fs'

/**
 * Gives an open file, which root has just made, to an owner. For other users it does nothing, nor if the file system or a
 * user namespace refuses.
 */
export function giveAsRoot(fd: number, { uid, gid }: Pick<Stats, 'uid' | 'gid'>): void {
  if (process.getuid?.() !== 0) return
  try {
    fchownSync(fd, uid, gid)
  } catch {
    // The file stays root's.
  }
}
