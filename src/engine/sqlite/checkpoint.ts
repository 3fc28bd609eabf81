import type { Log } from '../../log'
import type { Failure } from './failure'
import type { CheckpointReport } from './worker-client'

// A log of so many pages (256 MiB) is told of: a reader that does not end keeps it from being started anew.
const LONG_LOG_PAGES = 65_536

/** Follows how checkpoints go, and tells of it in the log. `onFailed` is told of one that the disk failed. */
export function watchCheckpoints(log: Log, onFailed: (failure: Failure) => void) {
  let failure: Failure | null = null
  let isLogLong = false

  return {
    /** Why the last one failed; the write-ahead log grows until one succeeds. */
    failure: (): Failure | null => failure,
    /** All is opened anew: what was wrong before says nothing. */
    forget(): void {
      failure = null
    },
    report(it: CheckpointReport): void {
      if ('checkpointFailure' in it) {
        if (!failure) log('error', 'checkpoint-failed', { detail: it.checkpointFailure.detail })
        failure = it.checkpointFailure
        if (failure.kind === 'failed') onFailed(failure)
        return
      }
      if (failure) log('info', 'checkpoint-recovered')
      failure = null
      const { pages, checkpointed } = it
      if (!isLogLong && pages >= LONG_LOG_PAGES) log('warn', 'log-grows', { pages, checkpointed })
      isLogLong = pages >= LONG_LOG_PAGES
    },
  }
}
