// A command that commits, or copies a database, while somebody watches it.

import type { Log } from '../../log'
import { exitCodes, type Output } from '../command'
import { interruptible } from './interrupt'
import { createProgress, inMegabytes } from './progress'

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

/**
 * Runs `copy`, which can be interrupted where it calls `onBytes`, with a bar of what is done; then prints what it resolves to.
 * Resolves to the exit code, or to the signal's if one came.
 */
export const copying = (
  out: Output,
  err: Output,
  copy: (onBytes: (done: number, total: number) => void) => Promise<string>,
): Promise<number> =>
  interruptible(async (check) => {
    const progress = createProgress(err, inMegabytes)
    const onBytes = (done: number, total: number) => {
      check()
      progress.update(done, done, total)
    }
    out.write(await copy(onBytes).finally(progress.end))
    return exitCodes.ok
  })
