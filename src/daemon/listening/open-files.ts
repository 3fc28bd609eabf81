// The open files and connections of this process, and their limit.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { codeOf } from '../../errors'
import type { OpenFiles } from '../../metrics'

const OPEN_FILES = '/proc/self/fd'
const LIMIT = /^Max open files +(\d+)/m

/** Returns the function that counts them: null without `/proc`, as in a chroot. */
export function openFileCounter(): () => OpenFiles | null {
  if (!existsSync(OPEN_FILES)) return () => null
  const limit = Number(LIMIT.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1])
  return () => {
    try {
      return { open: readdirSync(OPEN_FILES).length, limit }
    } catch (error) {
      if (['EMFILE', 'ENFILE'].includes(codeOf(error))) return { open: limit, limit }
      throw error
    }
  }
}
