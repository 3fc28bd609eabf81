// The open files and connections of this process, and their limit.

import { closeSync, existsSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { codeOf } from '../../errors'
import type { Log } from '../../log'
import type { OpenFiles } from '../../metrics'

// The folder that lists the open files of this process.
const OPEN_FILES = '/proc/self/fd'

const LIMIT = /^Max open files +(\d+)/m
const CHECK_EVERY_MS = 1000
const REPEAT_AFTER_MS = 60_000

const isExhausted = (error: unknown): boolean => ['EMFILE', 'ENFILE'].includes(codeOf(error))

/**
 * Logs, at most once a minute, that no more files can be opened; returns a function that counts them. Without `/proc`,
 * as in a chroot, nothing is counted.
 */
export function watchOpenFiles(log: Log): () => OpenFiles | null {
  if (!existsSync(OPEN_FILES)) return () => null
  const limit = Number(LIMIT.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1])
  let nextLine = 0
  const checkLimit = () => {
    try {
      closeSync(openSync('/dev/null', 'r'))
    } catch (error) {
      if (!isExhausted(error) || performance.now() < nextLine) return
      nextLine = performance.now() + REPEAT_AFTER_MS
      log('error', 'too-many-open-files', { limit })
    }
  }
  setInterval(checkLimit, CHECK_EVERY_MS).unref()

  return () => {
    try {
      return { open: readdirSync(OPEN_FILES).length, limit }
    } catch (error) {
      if (isExhausted(error)) return { open: limit, limit }
      throw error
    }
  }
}
