// The end of the change log, for a poll: read again only if the write-ahead log may have changed.

import { statSync } from 'node:fs'
import type { ChangeLog, ChangeLogPage } from '../../../change-log/change-log'

// A later write may have the same time: the clock of a file system has steps of some milliseconds, and may be set.
const SETTLED_MS = 1000

/** Wraps the reading of the change log of a database; all calls must have the same options. */
export function readWhenChanged(path: string, read: ChangeLog['read']): ChangeLog['read'] {
  let lastState = ''
  let page: ChangeLogPage | undefined

  /** The state of the WAL; empty if it is missing, or changed just now. */
  function stateOfWal(): string {
    const stat = statSync(`${path}-wal`, { throwIfNoEntry: false })
    const isSettled = stat && Math.abs(Date.now() - stat.mtimeMs) > SETTLED_MS
    return isSettled ? `${stat.ino} ${stat.size} ${stat.mtimeMs}` : ''
  }

  return async (options) => {
    const state = stateOfWal()
    if (page && state !== '' && state === lastState) return page
    page = await read(options)
    lastState = state
    return page
  }
}
