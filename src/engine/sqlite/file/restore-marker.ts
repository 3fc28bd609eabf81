// The file at a database's path while a restore moves a damaged one aside: every command refuses it.

import { readSync } from 'node:fs'

const FIRST_LINE = 'plantstore: a restore was interrupted; run it again'
const MAX_BYTES = 1024

/** The marker of a restore that keeps the old database under a name in the same folder. */
export const restoreMarker = (keptName: string): string => `${FIRST_LINE}\n${keptName}\n`

/** The name under which the old database is kept, if an open file is a marker; else null. */
export function readRestoreMarker(fd: number): string | null {
  const bytes = Buffer.alloc(MAX_BYTES)
  const [first, keptName] = bytes
    .toString('utf8', 0, readSync(fd, bytes, 0, MAX_BYTES, 0))
    .split('\n')
  return first === FIRST_LINE && keptName && !keptName.includes('/') ? keptName : null
}
