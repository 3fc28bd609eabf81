// Ctrl-Z suspends a command only between commits, never while it holds the database lock.

import type { Log } from '../../log'
import type { Output } from '../command'

/** Makes Ctrl-Z (SIGTSTP) stop this process only between the commits that the returned function runs, one at a time. */
function suspendBetweenCommits() {
  let isCommitting = false
  let isStopPending = false
  const stop = () => {
    isStopPending = false
    process.kill(process.pid, 'SIGSTOP')
  }
  process.on('SIGTSTP', () => {
    if (isCommitting) isStopPending = true
    else stop()
  })
  return async <T>(commit: () => Promise<T>): Promise<T> => {
    isCommitting = true
    try {
      return await commit()
    } finally {
      isCommitting = false
      if (isStopPending) stop()
    }
  }
}

/** The log of a command. Its exit code and message cover all other events. */
export const commandLog =
  (err: Output): Log =>
  (_level, event, { host, detail } = {}) => {
    if (event === 'server-silent' || event === 'server-starting')
      err.write(`plantstore: warning: ${host}: ${detail}\n`)
  }

/** Options of an interactive command that writes: it holds no lock while suspended. */
export const interactiveOptions = (err: Output) => ({
  deferSuspend: suspendBetweenCommits(),
  log: commandLog(err),
})
