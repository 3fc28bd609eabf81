// BEGIN … COMMIT: makes a batch durable, and detects that the file was moved or replaced.

import type { Database } from 'bun:sqlite'
import type { NewEntry } from '../../../change-log/entry'
import { watchInode } from '../../../files/libc'
import { countDelta } from '../../commit/plant-count'
import { sampleRow } from '../../commit/sample-row'
import { isDone, type Outcome, type PlantWrite, type Write } from '../../commit/write'
import { distrustPageCache, watchFiles } from '../file/database-file'
import { type StorageFailure, toFailure } from '../file/errors'
import { SCHEMA_VERSION, schemaVersion } from '../file/migrations'
import { type LastEntry, prepareChangeLogWriter } from '../reading/change-log'
import { CACHE, closeDatabase, connect, prepareOrClose } from '../reading/connection'
import { prepareWrites, probe } from './apply-write'
import { createCheckpointer } from './checkpoint'
import type { CheckpointReport, CommitReply, DatabaseToOpen } from './worker-protocol'

// Time limit of a commit for the lock of another writing process. /health reports that lock within 10 seconds.
const BUSY_MS = 8000

const moved: StorageFailure = {
  kind: 'failed',
  detail: 'the database was moved, replaced or deleted',
}

/** A connection that commits batches, one at a time. Its calls block until the disk has confirmed. */
export type Committer = {
  commit(batch: readonly Write[]): CommitReply
  /** Writes the pages of a create and these changes, as a commit does, and rolls back. */
  rehearse(changes: readonly PlantWrite[]): CommitReply
  /** Checkpoints, if one is due. Called once the commit has been answered. */
  afterCommit(): void
  close(): void
}

/** Opens a committer. `isDistrusted`: drops the page cache first. Throws if that fails, or another file is at the path. */
export function openCommitter(
  { path, inode, mayKeepChangeLog }: DatabaseToOpen,
  isDistrusted: boolean,
  report: (report: CheckpointReport) => void,
): Committer {
  // Another file at the path is a different store.
  if (watchInode(path)() !== inode) throw new Error(moved.detail)
  if (isDistrusted) distrustPageCache(path)
  const db = connect(path)
  return prepareOrClose(db, () => {
    const { commit, rehearse } = prepareCommits(db, path, mayKeepChangeLog)
    const { afterCommit, stop } = createCheckpointer(db, report)
    function close(): void {
      stop()
      closeDatabase(db)
    }
    return { commit, rehearse, afterCommit, close }
  })
}

function prepareCommits(
  db: Database,
  path: string,
  mayKeepChangeLog: boolean,
): Pick<Committer, 'commit' | 'rehearse'> {
  const changeLog = prepareChangeLogWriter(db)
  const apply = prepareWrites(db, changeLog.remove)
  const count = db.query<never, [number]>('UPDATE plant_count SET plants = plants + ?')
  const begin = db.query('BEGIN IMMEDIATE')
  const commitBatch = db.query('COMMIT')
  // SQLite creates the WAL at the first read: it must exist to be watched.
  schemaVersion(db)
  const isMoved = watchFiles(path)
  // SQLite polls at intervals of up to 100 ms: too coarse beside an import, which yields for a few milliseconds.
  db.run('PRAGMA busy_timeout = 0')

  function beginImmediate(): void {
    const deadline = performance.now() + BUSY_MS
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
      // SQLite has already rolled back, or will when the connection closes.
    }
  }

  // A failed COMMIT may leave complete but unsynced frames in the WAL. A commit that overwrites them, synced or not,
  // keeps the next reader of the WAL from treating them as committed.
  function overwriteFailedCommit(): boolean {
    try {
      begin.run()
      probe(db)
      commitBatch.run()
      return true
    } catch {
      rollback()
      return false
    }
  }

  // Begins a transaction; throws unless it can write.
  function beginBatch(): void {
    beginImmediate()
    // A newer daemon may have started beside this command.
    if (schemaVersion(db) !== SCHEMA_VERSION) throw new Error('a newer plantstore has migrated it')
  }

  function applyBatch(batch: readonly Write[]) {
    const entries: NewEntry[] | undefined = mayKeepChangeLog ? [] : undefined
    let growth = 0
    const outcomes = batch.map((write) => {
      const outcome = apply(write, entries)
      growth += countDelta(write, outcome)
      return outcome
    })
    if (growth !== 0) count.run(growth)
    return { outcomes, lastEntry: entries ? changeLog.add(entries) : null }
  }

  /**
   * Without a cache, SQLite writes pages to the WAL before the end of a transaction. After a rollback, the next
   * transaction overwrites them (https://sqlite.org/fileformat2.html#walindexformat).
   */
  function rehearse(changes: readonly PlantWrite[]): CommitReply {
    try {
      if (isMoved()) return { failure: moved }
      db.run('PRAGMA cache_size = 0')
      beginBatch()
      const sample: PlantWrite = { kind: 'create', row: sampleRow(), origin: null }
      const [created = null] = applyBatch([sample, ...changes]).outcomes
      if (isDone(created)) return 'done'
      const detail = created.detail ?? `a create is refused with ${created.error}`
      return { failure: { kind: 'altered', detail } }
    } catch (error) {
      return { failure: toFailure(error) }
    } finally {
      rollback()
      db.run(CACHE)
    }
  }

  /**
   * Makes a batch durable, in order. It is in doubt, with its prospective outcomes, if COMMIT and the overwrite both
   * failed, or if the file was moved in the meantime, and may come back together with its WAL.
   */
  function commit(batch: readonly Write[]): CommitReply {
    let outcomes: readonly Outcome[] | undefined
    let lastEntry: LastEntry | null = null
    let isCommitted = false
    try {
      if (isMoved()) return { failure: moved }
      beginBatch()
      const applied = applyBatch(batch)
      lastEntry = applied.lastEntry
      outcomes = applied.outcomes
      commitBatch.run()
      isCommitted = true
      if (isMoved()) return { failure: moved, inDoubt: outcomes, lastEntry }
      return outcomes.every((outcome) => outcome === null) ? 'done' : { outcomes }
    } catch (error) {
      rollback()
      const failure = toFailure(error)
      if (!outcomes) return { failure }
      // On a full disk the last frame is missing; without it there is no commit.
      const isUndone = !isCommitted && (failure.kind !== 'failed' || overwriteFailedCommit())
      return isUndone ? { failure } : { failure, inDoubt: outcomes, lastEntry }
    }
  }

  return { commit, rehearse }
}
