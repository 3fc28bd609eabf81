// Ctrl-Z: stops a command where it holds no lock for which a daemon would have to wait.

/** From now on, SIGTSTP stops this process outside the commits that the returned function runs, one at a time. */
export function suspendBetweenCommits() {
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
