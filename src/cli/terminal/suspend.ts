// Lets Ctrl-Z suspend a command that commits, but never while it holds the database lock.

import type { Log } from '../../log'
import type { Output } from '../command'

/** Makes Ctrl-Z (SIGTSTP) stop this process only between the commits that the returned function runs, one at a time. */
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

/** The log of a command: one line if it has migrated the database. Its exit code and message cover all other events. */
const tellMigration =
  (err: Output): Log =>
  (_level, event, { from, to, copy } = {}) => {
    if (event !== 'migrated') return
    const kept = copy === undefined ? '' : `; it was copied to ${copy}`
    err.write(`migrated the database from schema ${from} to ${to}${kept}\n`)
  }

/** Options of an interactive command: it holds no lock while suspended, and reports a migration. */
export const attended = (err: Output) => ({
  deferSuspend: suspendBetweenCommits(),
  log: tellMigration(err),
})
