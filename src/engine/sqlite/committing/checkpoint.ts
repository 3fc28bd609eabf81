// Checkpoints: copy the write-ahead log (WAL) into the database, so that it stays short, and truncate its file if it is
// long.

import type { Database } from 'bun:sqlite'
import { statSync } from 'node:fs'
import type { Log } from '../../../log'
import type { StorageEvent } from '../../storage-state'
import { toFailure } from '../file/errors'
import type { CheckpointReport } from './worker-protocol'

// Size of the WAL that triggers a checkpoint, in pages of 4 KiB: twice SQLite's default, because commits of random ids
// in a large store spend most of their time on checkpoints.
const CHECKPOINT_PAGES = 2000
const MAX_IDLE_WAL_BYTES = 32 * 1024 * 1024
const RETRY_MS = 1000
// Size of the WAL that triggers a warning (256 MiB): a long read transaction keeps it growing.
const GROWING_WAL_PAGES = 65_536

type CheckpointRow = { busy: bigint; log: bigint; checkpointed: bigint }

const PASSIVE = 'PRAGMA wal_checkpoint(PASSIVE)'

/** Copies the WAL into the database; false if a reader of an old state kept a part, or another checkpoint is running. */
export function copyLog(db: Database): boolean {
  const row = db.query<CheckpointRow, []>(PASSIVE).get()
  return row?.busy === 0n && row.checkpointed === row.log
}

/** Checkpoints of one connection. */
type Checkpointer = {
  /** Checkpoints if the WAL is long enough; after a commit that found the disk full, within a second in any case. */
  afterCommit(isDiskFull: boolean): void
  stop(): void
}

/**
 * Checkpoints with the connection that commits (https://sqlite.org/c3ref/wal_checkpoint_v2.html). A checkpoint that
 * failed or was blocked by a reader is retried every second.
 */
export function createCheckpointer(
  db: Database,
  report: (report: CheckpointReport) => void,
): Checkpointer {
  const wal = `${db.filename}-wal`
  const walPages = db.query<CheckpointRow, []>('PRAGMA wal_checkpoint(NOOP)')
  const passive = db.query<CheckpointRow, []>(PASSIVE)
  const truncate = db.query<CheckpointRow, []>('PRAGMA wal_checkpoint(TRUNCATE)')
  let dueAt = CHECKPOINT_PAGES
  let retry: Timer | undefined

  function retrySoon(): void {
    retry ??= setTimeout(run, RETRY_MS, () => true)
  }

  // True if the whole WAL is in the database, and its file is no longer than necessary.
  function checkpoint(): boolean {
    const row = passive.get()
    const pages = Number(row?.log)
    const checkpointed = Number(row?.checkpointed)
    report({ pages, checkpointed })
    // A reader of an old state keeps the WAL growing: retry when it has grown by as much again.
    dueAt = checkpointed < pages ? pages + CHECKPOINT_PAGES : CHECKPOINT_PAGES
    if (checkpointed < pages) return false
    return statSync(wal).size <= MAX_IDLE_WAL_BYTES || truncate.get()?.busy === 0n
  }

  function run(isDue: () => boolean): void {
    try {
      if (!isDue()) return
      clearTimeout(retry)
      retry = undefined
      if (checkpoint()) return
    } catch (error) {
      report({ checkpointFailure: toFailure(error) })
    }
    retrySoon()
  }

  return {
    afterCommit(isDiskFull) {
      run(() => {
        const pages = Number(walPages.get()?.log)
        if (pages < CHECKPOINT_PAGES) dueAt = CHECKPOINT_PAGES
        return pages >= dueAt
      })
      // The WAL itself may have filled the disk: once it is copied, commits overwrite it.
      if (isDiskFull) retrySoon()
    },
    stop: () => clearTimeout(retry),
  }
}

/** Checkpoints as the serving thread sees them. */
export type CheckpointWatch = {
  /**
   * True if the last checkpoint copied the whole WAL. If not, a reader blocked it, possibly in this process: under
   * steady load its transactions leave no gap, and the WAL would grow without end.
   */
  isFinished(): boolean
  report(report: CheckpointReport): void
}

/** Receives checkpoint reports in the serving thread, and logs those that concern the operator. */
export function watchCheckpoints(
  log: Log,
  onEvent: (event: StorageEvent) => void,
): CheckpointWatch {
  let isGrowing = false
  let isFinished = true

  return {
    isFinished: () => isFinished,
    report(message) {
      if ('checkpointFailure' in message) {
        onEvent({ source: 'checkpoint', failure: message.checkpointFailure })
        return
      }
      onEvent('checkpointed')
      const { pages, checkpointed } = message
      isFinished = checkpointed === pages
      const wasGrowing = isGrowing
      isGrowing = pages >= GROWING_WAL_PAGES
      if (isGrowing && !wasGrowing) log('warn', 'wal-growing', { pages, checkpointed })
    },
  }
}
