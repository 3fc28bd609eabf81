// The thread that waits for the disk: makes batches durable, and copies the write-ahead log (WAL) into the database. What
// the disk refuses is undone; a write or sync that fails is fatal: only a process that reads the disk anew knows what it
// has stored. Entry point of a Worker: loading it starts it.

import type { Database } from 'bun:sqlite'
import { dirname } from 'node:path'
import type { NewEntry } from '../../change-log/entry'
import { messageOf } from '../../errors'
import { syncFolder } from '../../files/sync'
import { FIELDS, TEXT_FIELDS } from '../../plant/plant'
import { COLUMNS, type PlantRecord, type RowTexts, toRow } from '../../plant/row'
import { decide, isPlantWrite, type State } from '../commit/kinds'
import { DONE, isDone, type Outcome, type Refusal, type Report, type Write } from '../commit/write'
import { prepareChangeLogWriter } from './change-log'
import { CACHE, connect, prepareOrClose } from './connection'
import { type Failure, toError, toFailure, WriteRefusal } from './errors'
import { type CheckpointRow, closeDatabase, MOVED, saveLog, watchFiles } from './files'
import { guardSchema, schemaVersion } from './schema'
import { changeTokens } from './tokens'

// Time limit of a commit for the lock of another writing process. /health reports that lock within 10 seconds.
const BUSY_MS = 8000
// Time limit of a rehearsal for it: a commit behind it still ends in time.
const REHEARSAL_MS = 1000
// Size of the WAL that triggers a checkpoint, in pages of 4 KiB: twice SQLite's default, because commits of random ids
// in a large store spend most of their time on checkpoints.
const CHECKPOINT_PAGES = 2000

/** The database to open: the files at its path must have these inodes. */
export type DatabaseToOpen = {
  readonly path: string
  readonly inodes: readonly (string | null)[]
}

declare const self: Worker

/**
 * A batch to commit, or an order: `rehearse` what a full disk has refused, or `close`. Messages are JSON, the cheapest in
 * Bun.
 */
export type Request = readonly Write[] | 'rehearse' | 'close'

/**
 * `outcomes`: those of a committed batch, unless each is DONE. `cursor`: that of its last entry in the
 * change log. `failure`: nothing of it was stored; if it is fatal, it may also come unrequested, and nothing is known.
 */
export type Reply = {
  readonly outcomes?: readonly Outcome[]
  readonly cursor?: string | undefined
  readonly failure?: Failure
}

/** The plants of a database, for {@link decide}. */
export function prepareState(db: Database): State {
  const select = db.query<PlantRecord, [bigint]>(`SELECT ${COLUMNS} FROM plants WHERE id = ?`)
  const insert = db.query<never, [bigint, ...RowTexts]>(
    `INSERT INTO plants (${COLUMNS}) VALUES (${FIELDS.map(() => '?')}) ON CONFLICT (id) DO NOTHING`,
  )
  const update = db.query<never, [...RowTexts, bigint]>(
    `UPDATE plants SET ${TEXT_FIELDS.map((name) => `${name} = ?`)} WHERE id = ?`,
  )
  const remove = db.query<never, [bigint]>('DELETE FROM plants WHERE id = ?')

  return {
    read(id) {
      const row = select.get(BigInt(id))
      return row && toRow(row)
    },
    insert: ([id, ...texts]) => insert.run(BigInt(id), ...texts).changes === 1,
    update: ([id, ...texts]) => void update.run(...texts, BigInt(id)),
    remove: (id) => void remove.run(BigInt(id)),
    allOrNone<T extends Report>(act: (state: State) => Refusal | T) {
      db.run('SAVEPOINT all_or_none')
      let outcome: Refusal | T | undefined
      try {
        outcome = act(this)
        return outcome
      } finally {
        // After a disk error, SQLite has already ended the transaction.
        if (db.inTransaction) {
          if (!isDone(outcome)) db.run('ROLLBACK TO all_or_none')
          db.run('RELEASE all_or_none')
        }
      }
    },
  }
}

/** Returns the function that applies a batch within a transaction, its count of plants and its entries included. */
function prepareBatch(db: Database) {
  const state = prepareState(db)
  const changeLog = prepareChangeLogWriter(db)
  const count = db.query<never, [number]>('UPDATE change_log SET plants = plants + ?')
  const recordUse = db.query<never, [number, string]>(
    'UPDATE tokens SET last_used_at = ? WHERE hash = ?',
  )

  function apply(write: Write, entries: NewEntry[]): Outcome {
    if (isPlantWrite(write)) return decide(write, state, entries)
    if (write.kind === 'changeTokens') return { changed: changeTokens(db, write.statements) }
    if (write.kind === 'recordUse') recordUse.run(write.hour, write.hash)
    else changeLog.remove(write.upTo)
    return DONE
  }

  return (batch: readonly Write[]): Reply => {
    const entries: NewEntry[] = []
    const outcomes = batch.map((write) => apply(write, entries))
    const created = entries.filter(({ before }) => before === null).length
    const deleted = entries.filter(({ after }) => after === null).length
    if (created !== deleted) count.run(created - deleted)
    const cursor = changeLog.add(entries)
    return outcomes.every((outcome) => outcome === DONE) ? { cursor } : { outcomes, cursor }
  }
}

/**
 * Returns the function that writes a batch in one transaction, which `end` commits or rolls back. `lost`: the file that
 * was moved or removed.
 */
function prepareTransaction(db: Database, lost: ReturnType<typeof watchFiles>['lost']) {
  const { filename: path } = db
  const guard = guardSchema(db)
  const begin = db.query('BEGIN IMMEDIATE')
  const apply = prepareBatch(db)

  /** True if a file was moved. What its log still holds is then copied into the database. */
  function saveLost(): boolean {
    const file = lost()
    if (file) saveLog(db, file)
    return file !== null
  }

  // SQLite would wait in steps of up to 100 ms: too coarse beside an import, which yields for some milliseconds.
  function waitForLock(patience: number): void {
    for (const deadline = performance.now() + patience; ; Bun.sleepSync(1)) {
      try {
        begin.run()
        return
      } catch (error) {
        if (toFailure(error, path).kind !== 'busy' || performance.now() >= deadline) throw error
      }
    }
  }

  return (batch: readonly Write[], patience: number, end: () => void): Reply => {
    let reply: Reply | undefined
    try {
      if (saveLost()) throw new WriteRefusal('moved', MOVED)
      waitForLock(patience)
      guard()
      reply = apply(batch)
      end()
    } catch (error) {
      rollBack(db)
      return { failure: toFailure(error, path, reply !== undefined) }
    }
    try {
      return saveLost() ? { failure: { kind: 'in doubt', detail: MOVED } } : reply
    } catch (error) {
      // The commit was made, and cannot be refused any more.
      return { failure: { kind: 'fatal', detail: messageOf(error) } }
    }
  }
}

function rollBack(db: Database): void {
  try {
    if (db.inTransaction) db.run('ROLLBACK')
  } catch {
    // SQLite has already rolled back, or does so when the connection closes.
  }
}

/** Opens the connection that commits. Throws if the files of the database are others than the serving thread's. */
function connectTo({ path, inodes }: DatabaseToOpen) {
  const { lost } = watchFiles(path, inodes)
  const db = connect(path)
  return prepareOrClose(db, () => {
    db.run('PRAGMA journal_size_limit = 33554432')
    // SQLite opens the WAL at the first read.
    schemaVersion(db)
    if (lost()) throw new WriteRefusal('moved', MOVED)
    return { db, lost, write: prepareTransaction(db, lost) }
  })
}

/** Opens what commits the batches of one database, one at a time. Its calls block until the disk confirms. */
export function openCommitter(database: DatabaseToOpen) {
  const { db, lost, write } = connectTo(database)
  const end = db.query('COMMIT')
  const walPages = db.query<CheckpointRow, []>('PRAGMA wal_checkpoint(NOOP)')
  const copyWal = db.query('PRAGMA wal_checkpoint(PASSIVE)')
  /** The writes that a full disk has refused last. */
  let refused: readonly Write[] = []

  /** Makes a batch durable, in order. */
  function commit(batch: readonly Write[]): Reply {
    const reply = write(batch, BUSY_MS, () => end.run())
    if (reply.failure?.kind === 'full') refused = batch
    if (reply.failure?.kind !== 'damaged') return reply
    if (batch.length === 1) return { outcomes: [refusalOf(reply.failure)] }
    // SQLite ends a transaction that has met a damaged page: each write is tried for itself.
    const outcomes: Outcome[] = []
    let last: string | undefined
    for (const each of batch) {
      const { failure, cursor, outcomes: [outcome = DONE] = [] } = commit([each])
      if (failure?.kind === 'fatal' || failure?.kind === 'in doubt') return { failure }
      outcomes.push(failure ? refusalOf(failure) : outcome)
      last = cursor ?? last
    }
    return { outcomes, cursor: last }
  }

  return {
    commit,
    /**
     * Writes what a full disk has refused, and rolls back. Without a cache, SQLite writes pages to the WAL before the
     * end of a transaction; the next one overwrites them (https://sqlite.org/fileformat2.html#walindexformat).
     */
    rehearse(): Reply {
      db.run('PRAGMA cache_size = 0')
      const reply = write(refused, REHEARSAL_MS, () => rollBack(db))
      db.run(CACHE)
      if (!reply.failure) refused = []
      return reply
    },
    /**
     * Copies a long WAL into the database (https://sqlite.org/c3ref/wal_checkpoint_v2.html), or any if the disk is full:
     * the next commit begins at its start, unless a reader needs it. Called once the request has been answered. Returns
     * the failure of the disk.
     */
    checkpoint(isDiskFull: boolean): Failure | null {
      try {
        if (isDiskFull || Number(walPages.get()?.log) >= CHECKPOINT_PAGES) copyWal.run()
        return null
      } catch (error) {
        const failure = toFailure(error, db.filename, true)
        return failure.kind === 'fatal' ? failure : null
      }
    },
    close: () => closeDatabase(db, lost()),
  }
}

function refusalOf(failure: Failure): Outcome {
  const { error, message } = toError(failure)
  return { error, message }
}

let committer: ReturnType<typeof openCommitter> | undefined

const send = (reply: Reply) => self.postMessage(JSON.stringify(reply))

const databaseToOpen = (): DatabaseToOpen => JSON.parse(Bun.argv.at(-1) ?? '')

function answer(request: Request): Reply {
  if (request === 'close') {
    committer?.close()
    syncFolder(dirname(databaseToOpen().path))
    return {}
  }
  // Each request opens the database, unless that has succeeded.
  committer ??= openCommitter(databaseToOpen())
  return request === 'rehearse' ? committer.rehearse() : committer.commit(request)
}

self.onmessage = ({ data }: MessageEvent<string>) => {
  const request: Request = JSON.parse(data)
  try {
    const reply = answer(request)
    send(reply)
    if (request === 'close') return
    const failure = committer?.checkpoint(reply.failure?.kind === 'full')
    if (failure) send({ failure })
  } catch (error) {
    send({ failure: toFailure(error, databaseToOpen().path) })
  }
}
