// BEGIN … COMMIT: makes a batch durable, and detects that the file was moved or replaced.

import type { Database, Statement } from 'bun:sqlite'
import type { NewEntry } from '../../../change-log/entry'
import { watchInode } from '../../../files/libc'
import { countDelta } from '../../commit/kinds'
import { sampleRow } from '../../commit/sample-row'
import { DONE, isDone, type Outcome, type PlantWrite, type Write } from '../../commit/write'
import type { StorageFailure } from '../../storage-state'
import { CACHE, closeDatabase, connect, prepareOrClose } from '../file/connection'
import { distrustPageCache, watchFiles } from '../file/database-file'
import { DAMAGED_PAGE, toFailure } from '../file/errors'
import { schemaVersion } from '../file/migrations'
import { guardSchema } from '../file/own-schema'
import type { LastEntry } from '../reading/change-log'
import { prepareWrites, probe } from './apply-write'
import { prepareChangeLogWriter } from './change-log-writer'
import { createCheckpointer } from './checkpoint'
import {
  type CheckpointReport,
  type CommitReply,
  type DatabaseToOpen,
  failureOf,
  isInDoubt,
} from './worker-protocol'

// Time limit of a commit for the lock of another writing process. /health reports that lock within 10 seconds.
const BUSY_MS = 8000

const ON_DAMAGED_PAGE: Outcome = { error: 'cannot write', message: DAMAGED_PAGE }

const FILE_MOVED: StorageFailure = {
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

/**
 * Opens a committer. `isDistrusted`: drops the page cache first. Throws if that fails, or another file is at the path.
 */
export function openCommitter(
  { path, inode, mayKeepChangeLog }: DatabaseToOpen,
  isDistrusted: boolean,
  report: (report: CheckpointReport) => void,
): Committer {
  // Another file at the path is a different store.
  if (watchInode(path)() !== inode) throw new Error(FILE_MOVED.detail)
  if (isDistrusted) distrustPageCache(path)
  const db = connect(path)
  return prepareOrClose(db, () => {
    const batches = new Batches(db, path, mayKeepChangeLog)
    const { afterCommit, stop } = createCheckpointer(db, report)
    let isDiskFull = false
    return {
      commit(batch) {
        const reply = batches.commit(batch)
        isDiskFull = failureOf(reply)?.kind === 'full'
        return reply
      },
      rehearse: (changes) => batches.rehearse(changes),
      afterCommit: () => afterCommit(isDiskFull),
      close() {
        stop()
        closeDatabase(db)
      },
    }
  })
}

/** The transactions of a connection: each is committed, or rolled back. */
class Transactions {
  readonly #db: Database
  readonly #begin: Statement
  readonly #commit: Statement
  readonly #guardSchema: () => void

  constructor(db: Database) {
    this.#db = db
    this.#guardSchema = guardSchema(db)
    this.#begin = db.query('BEGIN IMMEDIATE')
    this.#commit = db.query('COMMIT')
    // SQLite waits in steps of up to 100 ms: too coarse beside an import, which yields for some milliseconds.
    db.run('PRAGMA busy_timeout = 0')
  }

  /** Begins a transaction; throws unless it can write. */
  begin(): void {
    this.#beginImmediate()
    this.#guardSchema()
  }

  commit(): void {
    this.#commit.run()
  }

  rollback(): void {
    try {
      if (this.#db.inTransaction) this.#db.run('ROLLBACK')
    } catch {
      // SQLite has already rolled back, or does so when the connection closes.
    }
  }

  /**
   * True if a failed COMMIT was undone. It may leave its frames in the WAL, complete but not synced. A commit that
   * overwrites them, synced or not, keeps the next reader of the WAL from treating them as committed.
   */
  overwriteFailedCommit(): boolean {
    try {
      this.#begin.run()
      probe(this.#db)
      this.#commit.run()
      return true
    } catch {
      this.rollback()
      return false
    }
  }

  #beginImmediate(): void {
    const deadline = performance.now() + BUSY_MS
    for (;;) {
      try {
        this.#begin.run()
        return
      } catch (error) {
        if (toFailure(error).kind !== 'busy' || performance.now() > deadline) throw error
        Bun.sleepSync(1)
      }
    }
  }
}

/** Returns the function that applies a batch within a transaction, its count of plants and its entries included. */
function prepareBatch(db: Database, mayKeepChangeLog: boolean) {
  const changeLog = prepareChangeLogWriter(db)
  const apply = prepareWrites(db, changeLog.remove)
  const count = db.query<never, [number]>('UPDATE change_log SET plants = plants + ?')

  return (batch: readonly Write[]) => {
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
}

/** Commits the batches of one database file, while the file stays at its path. */
class Batches {
  readonly #db: Database
  readonly #transactions: Transactions
  readonly #apply: ReturnType<typeof prepareBatch>
  readonly #movedFile: ReturnType<typeof watchFiles>

  constructor(db: Database, path: string, mayKeepChangeLog: boolean) {
    this.#db = db
    this.#apply = prepareBatch(db, mayKeepChangeLog)
    // SQLite creates the WAL at the first read: it must exist to be watched.
    schemaVersion(db)
    this.#movedFile = watchFiles(path)
    this.#transactions = new Transactions(db)
  }

  /**
   * Makes a batch durable, in order. It is in doubt, with its prospective outcomes, if COMMIT and the overwrite both
   * failed, or if the file was moved in the meantime, and may come back together with its WAL.
   */
  commit(batch: readonly Write[]): CommitReply {
    const reply = this.#commit(batch)
    if (failureOf(reply)?.kind !== 'damaged' || isInDoubt(reply)) return reply
    const damagedWrites = new Set(this.#findDamaged(batch))
    if (damagedWrites.size === 0) return reply
    const rest = batch.filter((write) => !damagedWrites.has(write))
    const restReply = rest.length > 0 ? this.#commit(rest) : DONE
    const merge = (outcomes: readonly Outcome[]) => {
      const restOutcomes = outcomes.values()
      return batch.map((write) =>
        damagedWrites.has(write) ? ON_DAMAGED_PAGE : (restOutcomes.next().value ?? DONE),
      )
    }
    if (restReply === DONE) return { outcomes: merge([]) }
    if ('outcomes' in restReply) return { outcomes: merge(restReply.outcomes) }
    return 'inDoubt' in restReply && restReply.inDoubt
      ? { ...restReply, inDoubt: merge(restReply.inDoubt) }
      : restReply
  }

  /** The writes that need a damaged page: SQLite ends a transaction that has met one. */
  #findDamaged(batch: readonly Write[]): readonly Write[] {
    if (!this.#meetsDamage(batch)) return []
    if (batch.length <= 1) return batch
    const middle = batch.length >> 1
    return [...this.#findDamaged(batch.slice(0, middle)), ...this.#findDamaged(batch.slice(middle))]
  }

  #meetsDamage(batch: readonly Write[]): boolean {
    try {
      this.#transactions.begin()
      this.#apply(batch)
      return false
    } catch (error) {
      return toFailure(error).kind === 'damaged'
    } finally {
      this.#transactions.rollback()
    }
  }

  #commit(batch: readonly Write[]): CommitReply {
    let outcomes: readonly Outcome[] | undefined
    let lastEntry: LastEntry | null = null
    let isCommitted = false
    try {
      if (this.#movedFile()) return { failure: FILE_MOVED }
      this.#transactions.begin()
      const result = this.#apply(batch)
      lastEntry = result.lastEntry
      outcomes = result.outcomes
      this.#transactions.commit()
      isCommitted = true
      if (this.#movedFile()) return { failure: FILE_MOVED, inDoubt: outcomes, lastEntry }
      return outcomes.every((outcome) => outcome === DONE) ? DONE : { outcomes }
    } catch (error) {
      this.#transactions.rollback()
      const failure = toFailure(error)
      if (!outcomes) return { failure }
      // On a full disk the last frame is missing, without which there is no commit.
      const isUndone =
        !isCommitted && (failure.kind === 'full' || this.#transactions.overwriteFailedCommit())
      return isUndone ? { failure } : { failure, inDoubt: outcomes, lastEntry }
    }
  }

  /**
   * Without a cache, SQLite writes pages to the WAL before the end of a transaction. Rolled back, they are overwritten
   * by the next one (https://sqlite.org/fileformat2.html#walindexformat).
   */
  rehearse(changes: readonly PlantWrite[]): CommitReply {
    try {
      if (this.#movedFile()) return { failure: FILE_MOVED }
      this.#db.run('PRAGMA cache_size = 0')
      this.#transactions.begin()
      const sample: PlantWrite = { kind: 'create', row: sampleRow(), origin: null }
      const [sampleOutcome = DONE] = this.#apply([sample, ...changes]).outcomes
      if (isDone(sampleOutcome)) return DONE
      const detail = sampleOutcome.detail ?? `a create is refused with ${sampleOutcome.error}`
      return { failure: { kind: 'barred', detail } }
    } catch (error) {
      return { failure: toFailure(error) }
    } finally {
      this.#transactions.rollback()
      this.#db.run(CACHE)
    }
  }
}
