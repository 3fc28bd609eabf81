// BEGIN … COMMIT: makes a batch durable, and copies the write-ahead log (WAL) into the database. What the disk refuses
// is undone; what it fails is fatal: only a process that reads the disk anew knows what it has stored.

import type { Database } from 'bun:sqlite'
import type { NewEntry } from '../../change-log/entry'
import { messageOf } from '../../errors'
import { countDelta } from '../commit/kinds'
import { DONE, type Outcome, type PlantWrite, type Write } from '../commit/write'
import { prepareChangeLogWriter } from './change-log'
import { CACHE, closeDatabase, connect, prepareOrClose } from './connection'
import { type Failure, FileMoved, toCommitFailure, toError, toFailure } from './errors'
import { type CheckpointRow, describeLost, keepLog, saveLog, watchFiles } from './files'
import { guardSchema, schemaVersion } from './schema'
import { prepareWrites } from './writes'

// Time limit of a commit for the lock of another writing process. /health reports that lock within 10 seconds.
const BUSY_MS = 8000
// Size of the WAL that triggers a checkpoint, in pages of 4 KiB: twice SQLite's default, because commits of random ids
// in a large store spend most of their time on checkpoints.
const CHECKPOINT_PAGES = 2000
// Readers of this process end within a turn of its event loop.
const READER_TRIES = 10

/** The database to open: the files at its path must have these inodes. */
export type DatabaseToOpen = {
  readonly path: string
  readonly inodes: readonly (string | null)[]
  /** False: there is no change log, and no other process can begin one. */
  readonly mayKeepChangeLog: boolean
}

/** Messages are JSON in one string, the cheapest message in Bun. Requests are answered in order, `open` first. */
export type Request =
  | { readonly open: DatabaseToOpen }
  | { readonly commit: readonly Write[] }
  /** Writes that were refused, to try them again without storing them. */
  | { readonly rehearse: readonly PlantWrite[] }
  /** `keepsLog`: leaves the write-ahead log in its place. */
  | { readonly close: true; readonly keepsLog: boolean }

/**
 * `DONE`: completely, each of its writes too. `outcomes`: committed, with refusals or rows. `failure`: nothing of it was
 * stored; if it is fatal, it may also come unrequested, and nothing is known.
 */
export type Reply =
  | typeof DONE
  | { readonly outcomes: readonly Outcome[] }
  | { readonly failure: Failure }

/** Returns the function that applies a batch within a transaction, its count of plants and its entries included. */
function prepareBatch(db: Database, mayKeepChangeLog: boolean) {
  const changeLog = prepareChangeLogWriter(db)
  const apply = prepareWrites(db, changeLog.remove)
  const count = db.query<never, [number]>('UPDATE change_log SET plants = plants + ?')

  return (batch: readonly Write[]): Outcome[] => {
    const entries: NewEntry[] | undefined = mayKeepChangeLog ? [] : undefined
    let growth = 0
    const outcomes = batch.map((write) => {
      const outcome = apply(write, entries)
      growth += countDelta(write, outcome)
      return outcome
    })
    if (growth !== 0) count.run(growth)
    if (entries) changeLog.add(entries)
    return outcomes
  }
}

/** Prepares the connection that commits, with its statements. */
function prepare(db: Database, mayKeepChangeLog: boolean) {
  // SQLite waits in steps of up to 100 ms: too coarse beside an import, which yields for some milliseconds.
  db.run('PRAGMA busy_timeout = 0')
  db.run('PRAGMA journal_size_limit = 33554432')
  // SQLite opens the WAL at the first read.
  schemaVersion(db)
  return {
    guard: guardSchema(db),
    begin: db.query('BEGIN IMMEDIATE'),
    commit: db.query('COMMIT'),
    apply: prepareBatch(db, mayKeepChangeLog),
    pages: db.query<CheckpointRow, []>('PRAGMA wal_checkpoint(NOOP)'),
    restart: db.query<CheckpointRow, []>('PRAGMA wal_checkpoint(RESTART)'),
  }
}

/** The connection that commits the batches of one database, one at a time. Its calls block until the disk confirms. */
export class Committer {
  readonly #db: Database
  readonly #statements: ReturnType<typeof prepare>
  readonly #lost: ReturnType<typeof watchFiles>['lost']
  readonly #path: string
  #checkpointAt = CHECKPOINT_PAGES

  /** Throws if the database cannot be opened, or its files are others than the serving thread's. */
  constructor({ path, inodes, mayKeepChangeLog }: DatabaseToOpen) {
    this.#path = path
    this.#lost = watchFiles(path, inodes).lost
    this.#db = connect(path)
    this.#statements = prepareOrClose(this.#db, () => {
      const statements = prepare(this.#db, mayKeepChangeLog)
      this.#requireFiles()
      return statements
    })
  }

  /** Makes a batch durable, in order. */
  commit(batch: readonly Write[]): Reply {
    const reply = this.#commit(batch)
    if (reply === DONE || 'outcomes' in reply || reply.failure.kind !== 'damaged') return reply
    if (batch.length === 1) return { outcomes: [refusalOf(reply.failure)] }
    // SQLite ends a transaction that has met a damaged page: each write is tried for itself.
    const outcomes: Outcome[] = []
    for (const write of batch) {
      const alone = this.commit([write])
      if (alone === DONE) outcomes.push(DONE)
      else if ('outcomes' in alone) outcomes.push(...alone.outcomes)
      else if (alone.failure.kind === 'fatal' || alone.failure.kind === 'in doubt') return alone
      else outcomes.push(refusalOf(alone.failure))
    }
    return { outcomes }
  }

  /**
   * Writes as these writes do, and rolls back. Without a cache, SQLite writes pages to the WAL before the end of a
   * transaction; the next one overwrites them (https://sqlite.org/fileformat2.html#walindexformat).
   */
  rehearse(writes: readonly PlantWrite[]): Reply {
    try {
      this.#db.run('PRAGMA cache_size = 0')
      this.#begin(0)
      this.#statements.apply(writes)
      return DONE
    } catch (error) {
      return { failure: toFailure(error, this.#path) }
    } finally {
      this.#rollback()
      this.#db.run(CACHE)
    }
  }

  /**
   * Copies a long WAL into the database (https://sqlite.org/c3ref/wal_checkpoint_v2.html). Called once the commit has
   * been answered. Returns the failure of the disk; on a full one the WAL grows until there is space.
   */
  checkpoint(): Failure | null {
    try {
      const pages = Number(this.#statements.pages.get()?.log)
      if (pages < CHECKPOINT_PAGES) this.#checkpointAt = CHECKPOINT_PAGES
      if (pages >= this.#checkpointAt) this.#checkpointAt = this.#copyLog(pages)
      return null
    } catch (error) {
      const failure = toCommitFailure(error, this.#path)
      return failure.kind === 'fatal' ? failure : null
    }
  }

  close(keepsLog: boolean): void {
    if (keepsLog) keepLog(this.#db)
    closeDatabase(this.#db)
  }

  /** Returns the size of the WAL for the next checkpoint: later, if a reader of an old state keeps it growing. */
  #copyLog(pages: number): number {
    for (let tries = 1; tries <= READER_TRIES; tries++) {
      if (this.#statements.restart.get()?.busy === 0n) return CHECKPOINT_PAGES
      Bun.sleepSync(1)
    }
    return pages + CHECKPOINT_PAGES
  }

  #commit(batch: readonly Write[]): Reply {
    let outcomes: readonly Outcome[] | undefined
    try {
      this.#begin(BUSY_MS)
      outcomes = this.#statements.apply(batch)
      this.#statements.commit.run()
    } catch (error) {
      this.#rollback()
      return { failure: (outcomes ? toCommitFailure : toFailure)(error, this.#path) }
    }
    try {
      const lost = this.#lost()
      if (lost) {
        saveLog(this.#db, lost)
        return { failure: { kind: 'in doubt', detail: describeLost(lost) } }
      }
    } catch (error) {
      // The commit was made, and cannot be refused any more.
      return { failure: { kind: 'fatal', detail: messageOf(error) } }
    }
    return outcomes.every((outcome) => outcome === DONE) ? DONE : { outcomes }
  }

  /** Begins a transaction; throws unless it can write. */
  #begin(patience: number): void {
    this.#requireFiles()
    const deadline = performance.now() + patience
    for (;;) {
      try {
        this.#statements.begin.run()
        break
      } catch (error) {
        if (toFailure(error, this.#path).kind !== 'busy' || performance.now() >= deadline)
          throw error
        Bun.sleepSync(1)
      }
    }
    this.#statements.guard()
  }

  #requireFiles(): void {
    const lost = this.#lost()
    if (!lost) return
    saveLog(this.#db, lost)
    throw new FileMoved(describeLost(lost))
  }

  #rollback(): void {
    try {
      if (this.#db.inTransaction) this.#db.run('ROLLBACK')
    } catch {
      // SQLite has already rolled back, or does so when the connection closes.
    }
  }
}

function refusalOf(failure: Failure): Outcome {
  const { error, message } = toError(failure)
  return { error, message }
}
