// Finds the process that has locked a file.

import { fstatSync, readFileSync } from 'node:fs'

// 1: FLOCK  ADVISORY  WRITE 1234 fe:01:5678 0 EOF (proc_locks(5)). Device numbers are hexadecimal.
const LOCK = /^\d+: FLOCK +\w+ +WRITE (\d+) ([\da-f]+):([\da-f]+):(\d+) /

/** The process that holds the lock of an open file (flock(2)); null if it is not shown, as outside of this container. */
export function lockHolder(fd: number): number | null {
  const { dev, ino } = fstatSync(fd, { bigint: true })
  // The device numbers within st_dev, as glibc's major() and minor() find them.
  const major = ((dev >> 8n) & 0xfffn) | ((dev >> 32n) & 0xfffff000n)
  const minor = (dev & 0xffn) | ((dev >> 12n) & 0xffffff00n)
  try {
    for (const line of readFileSync('/proc/locks', 'utf8').split('\n')) {
      const [, pid, ...file] = LOCK.exec(line) ?? []
      const [lineMajor, lineMinor] = file.slice(0, 2).map((part) => BigInt(`0x${part}`))
      if (lineMajor === major && lineMinor === minor && file[2] === String(ino))
        return Number(pid) || null
    }
  } catch {
    // Some containers have no /proc/locks.
  }
  return null
}
