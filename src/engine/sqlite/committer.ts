import type { Database } from 'bun:sqlite'
import { watchInode } from '../../files/libc'
import type { Outcome } from '../group-commit'
import { type Change, prepareChanges } from './apply-change'
import { connect } from './database-file'
import { type Failure, toFailure } from './failure'
import type { Answer, CheckpointReport } from './worker-client'

// Pages (of 4 KiB) that a commit may leave in the write-ahead log before the log is copied into the database: twice what
// SQLite takes by default, for creates of random ids in a large store, most of whose time goes into that copying.
const CHECKPOINT_PAGES = 2000

/** The files of a database that is open: those at its path must go on being these. */
export type Files = { readonly path: string; readonly inodes: readonly (string | null)[] }

const watch = (path: string) => [path, `${path}-wal`].map(watchInode)

/** The files of a database that has just been opened. */
export const filesOf = (path: string): Files => ({
  path,
  inodes: watch(path).map((inode) => inode()),
})

const moved: Failure = { kind: 'failed', detail: 'the database was moved, replaced or deleted' }

/**
 * A connection that makes changes durable, in whichever thread it is used: it waits for the disk, and for `busyMs`
 * milliseconds for another process that writes.
 */
export function openForWriting(files: Files, busyMs: number) {
  const db = connect(files.path)
  try {
    return prepareToWrite(db, files, busyMs)
  } catch (error) {
    db.close(true)
    throw error
  }
}

function prepareToWrite(db: Database, { path, inodes }: Files, busyMs: number) {
  const apply = prepareChanges(db)
  const begin = db.query('BEGIN IMMEDIATE')
  const commit = db.query('COMMIT')
  const checkpoint = db.query<{ busy: bigint; log: bigint; checkpointed: bigint }, []>(
    'PRAGMA wal_checkpoint(PASSIVE)',
  )
  const walPages = db.query<{ log: bigint }, []>('PRAGMA wal_checkpoint(NOOP)')
  // SQLite's own waiting is in steps of up to 100 ms: too coarse beside an import.
  db.run('PRAGMA busy_timeout = 0')
  const watched = watch(path)
  const isMoved = () => watched.some((inode, index) => inode() !== inodes[index])
  let checkpointAt = CHECKPOINT_PAGES

  function beginImmediate(): void {
    const deadline = performance.now() + busyMs
    for (;;) {
      try {
        begin.run()
        return
      } catch (error) {
        if (toFailure(error).kind !== 'busy' || performance.now() > deadline) throw error
        Bun.sleepSync(1)
      }
    }
  }

  function rollback(): void {
    try {
      if (db.inTransaction) db.run('ROLLBACK')
    } catch {
      // SQLite has rolled back by itself, or does so when the connection closes.
    }
  }

  // A COMMIT that failed may have left its pages in the log, whole but for the sync. A commit over them, be it
  // synced or not, keeps them from being taken for committed by whoever reads the log next.
  function overwriteFailedCommit(): boolean {
    try {
      begin.run()
      apply(['probe'])
      commit.run()
      return true
    } catch {
      rollback()
      return false
    }
  }

  function write(changes: readonly Change[]): Answer {
    let state: 'open' | 'committing' | 'committed' = 'open'
    try {
      if (isMoved()) return { failure: moved }
      beginImmediate()
      const outcomes: Outcome[] = changes.map(apply)
      state = 'committing'
      commit.run()
      state = 'committed'
      // The log may still be where it was, and what it holds come back with the file.
      if (isMoved()) return { failure: { ...moved, kind: 'doubtful' } }
      return outcomes.every((outcome) => outcome === null) ? 'done' : { outcomes }
    } catch (error) {
      rollback()
      const { kind, detail } = toFailure(error)
      // On a full disk the last page of a commit, which makes it one, was not written.
      const isDoubtful =
        state === 'committed' ||
        (state === 'committing' && !overwriteFailedCommit() && kind === 'failed')
      return { failure: { kind: isDoubtful ? 'doubtful' : kind, detail } }
    }
  }

  // Copies the log into the database when it is long enough, so that SQLite can start it anew; forced, at any length.
  function tidy(isForced = false): CheckpointReport | null {
    try {
      const pages = Number(walPages.get()?.log)
      if (pages < CHECKPOINT_PAGES) checkpointAt = CHECKPOINT_PAGES
      if (pages < checkpointAt && !isForced) return null
      const result = checkpoint.get()
      // A reader that holds an old state keeps the log growing: try again when it has grown as much again.
      checkpointAt =
        result?.log === result?.checkpointed ? CHECKPOINT_PAGES : pages + CHECKPOINT_PAGES
      return { checkpointed: Number(result?.checkpointed), pages: Number(result?.log) }
    } catch (error) {
      return { checkpointFailure: toFailure(error) }
    }
  }

  return { write, tidy, close: () => db.close(true) }
}
