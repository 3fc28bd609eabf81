// A command that commits can be suspended by Ctrl-Z, but never while it holds the lock that a daemon waits for.

import type { Log } from '../../log'
import type { Output } from '../command'

/** From now on, Ctrl-Z (SIGTSTP) stops this process outside the commits that the returned function runs, one at a time. */
function suspendBetweenCommits() {
  let isCommitting = false
  let isWanted = false
  const stop = () => {
    isWanted = false
    process.kill(process.pid, 'SIGSTOP')
  }
  process.on('SIGTSTP', () => {
    if (isCommitting) isWanted = true
    else stop()
  })
  return async <T>(commit: () => Promise<T>): Promise<T> => {
    isCommitting = true
    try {
      return await commit()
    } finally {
      isCommitting = false
      if (isWanted) stop()
    }
  }
}

/** The log of a command: only a line if it has migrated the database. Its exit code and message cover all other events. */
const tellMigration =
  (err: Output): Log =>
  (_level, event, { from, to, copy } = {}) => {
    if (event !== 'migrated') return
    const kept = copy === undefined ? '' : `; it was copied to ${copy}`
    err.write(`migrated the database from schema ${from} to ${to}${kept}\n`)
  }

/** What a command does for whoever started it: it holds no lock while it is stopped, and says that it has migrated. */
export const attended = (err: Output) => ({
  uninterrupted: suspendBetweenCommits(),
  log: tellMigration(err),
})
