// The descriptors of this process.

import { fstatSync } from 'node:fs'

/** The folder that lists the open files of this process. */
export const OPEN_FILES = '/proc/self/fd'

/** Whether an open file of this process is a socket. */
export function isSocket(fd: string): boolean {
  try {
    return fstatSync(Number(fd)).isSocket()
  } catch {
    // It was closed meanwhile.
    return false
  }
}
