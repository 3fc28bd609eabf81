// The thread that waits for the disk: makes batches durable, and copies the write-ahead log (WAL) into the database. What
// the disk refuses is undone; a write or sync that fails is fatal: only a process that reads the disk anew knows what it
// has stored. Entry point of a Worker, whose argument is the path of the database.

import type { Database } from 'bun:sqlite'
import { dirname } from 'node:path'
import type { NewEntry } from '../../change-log/entry'
import { syncFolder } from '../../files/sync'
import { FIELDS, TEXT_FIELDS } from '../../plant/plant'
import { COLUMNS, type PlantRecord, type RowTexts, toRow } from '../../plant/row'
import { applyWrite, isPlantWrite, type State } from '../commit/kinds'
import { DONE, isDone, type Outcome, type Refusal, type Report, type Write } from '../commit/write'
import { prepareChangeLogWriter } from './change-log'
import { CACHE, connect, prepareOrClose } from './connection'
import { type Failure, toError, toFailure } from './errors'
import type { CheckpointRow } from './files'
import { guardSchema } from './schema'
import { changeTokens } from './tokens'

// Time limit of a commit for the lock of another writing process. /health reports that lock within 10 seconds.
const BUSY_MS = 8000
// Time limit of a rehearsal for it: a commit behind it still ends in time.
const REHEARSAL_MS = 1000
// Size of the WAL that triggers a checkpoint, in pages of 4 KiB: twice SQLite's default, because commits of random ids
// in a large store spend most of their time on checkpoints.
const CHECKPOINT_PAGES = 2000

declare const self: Worker

/**
 * A batch to commit, or an order: `rehearse` what a full disk has refused, or `close`. Messages are JSON, the cheapest in
 * Bun.
 */
export type Request = readonly Write[] | 'rehearse' | 'close'

/**
 * `outcomes`: those of a committed batch, unless each is DONE. `cursor`: that of its last entry in the change log.
 * `damage`: the reason that some of it was refused. `failure`: nothing of it was stored; if it is fatal, it may also come
 * unrequested, and nothing is known.
 */
export type Reply = {
  readonly outcomes?: readonly Outcome[]
  readonly cursor?: string | undefined
  readonly damage?: Failure
  readonly failure?: Failure
}

/** The plants of a database, for {@link applyWrite}. */
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
    allOrNone<T extends Report>(change: (state: State) => Refusal | T) {
      db.run('SAVEPOINT all_or_none')
      // If it throws, the whole transaction is rolled back.
      const outcome = change(this)
      if (!isDone(outcome)) db.run('ROLLBACK TO all_or_none')
      db.run('RELEASE all_or_none')
      return outcome
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
    if (isPlantWrite(write)) return applyWrite(write, state, entries)
    if (write.kind === 'changeTokens') return { changed: changeTokens(db, write.statements) }
    if (write.kind === 'recordUse') recordUse.run(write.hour, write.hash)
    else changeLog.remove(write.upTo)
    return DONE
  }

  return (batch: readonly Write[]): Reply => {
    const entries: NewEntry[] = []
    const outcomes = batch.map((write) => apply(write, entries))
    let growth = 0
    for (const { before, after } of entries) {
      if (!before) growth += 1
      if (!after) growth -= 1
    }
    if (growth !== 0) count.run(growth)
    const cursor = changeLog.add(entries)
    return outcomes.every((outcome) => outcome === DONE) ? { cursor } : { outcomes, cursor }
  }
}

/** Returns the function that writes a batch in one transaction, which `end` commits or rolls back. */
function prepareTransaction(db: Database) {
  const guard = guardSchema(db)
  const begin = db.query('BEGIN IMMEDIATE')
  const apply = prepareBatch(db)

  // SQLite would wait in steps of up to 100 ms: too coarse beside an import, which yields for some milliseconds.
  function waitForLock(patience: number): void {
    const deadline = performance.now() + patience
    while (true) {
      try {
        begin.run()
        return
      } catch (error) {
        if (toFailure(error, db.filename).kind !== 'busy' || performance.now() >= deadline)
          throw error
      }
      Bun.sleepSync(1)
    }
  }

  return (batch: readonly Write[], patience: number, end: () => void): Reply => {
    let reply: Reply | undefined
    try {
      waitForLock(patience)
      guard()
      reply = apply(batch)
      end()
      return reply
    } catch (error) {
      rollBack(db)
      return { failure: toFailure(error, db.filename, reply !== undefined) }
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

/** Prepares what commits the batches of one database, one at a time. Its calls block until the disk confirms. */
function prepareCommitter(db: Database) {
  db.run('PRAGMA journal_size_limit = 33554432')
  const write = prepareTransaction(db)
  const end = db.query('COMMIT')
  const walPages = db.query<CheckpointRow, []>('PRAGMA wal_checkpoint(NOOP)')
  const copyWal = db.query('PRAGMA wal_checkpoint(PASSIVE)')
  /** The writes that a full disk has refused last. */
  let refused: readonly Write[] = []

  /** Makes a batch durable, in order. */
  function commit(batch: readonly Write[]): Reply {
    const reply = write(batch, BUSY_MS, () => end.run())
    if (reply.failure?.kind === 'full') refused = batch
    if (reply.failure?.kind !== 'damaged' || batch.length === 1) return reply
    // SQLite ends a transaction that has met a damaged page: each write is tried for itself.
    const outcomes: Outcome[] = []
    let cursor: string | undefined
    for (const each of batch) {
      const own = commit([each])
      if (own.failure?.kind === 'fatal') return own
      outcomes.push(own.failure ? refusalOf(own.failure) : (own.outcomes?.[0] ?? DONE))
      cursor = own.cursor ?? cursor
    }
    return { outcomes, cursor, damage: reply.failure }
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
    close: () => db.close(true),
  }
}

function refusalOf(failure: Failure): Outcome {
  const { error, message } = toError(failure)
  return { error, message }
}

/** Opens a database to commit to. Each failure of it is tried again, so nothing may stay open. */
export const openCommitter = (path: string) => prepareOrClose(connect(path), prepareCommitter)

let committer: ReturnType<typeof openCommitter> | undefined

self.onmessage = ({ data }: MessageEvent<string>) => {
  const request: Request = JSON.parse(data)
  const path = Bun.argv.at(-1) ?? ''
  const send = (reply: Reply) => self.postMessage(JSON.stringify(reply))
  try {
    if (request === 'close') {
      committer?.close()
      syncFolder(dirname(path))
      return send({})
    }
    // Each request opens the database, unless that has succeeded.
    committer ??= openCommitter(path)
    const reply = request === 'rehearse' ? committer.rehearse() : committer.commit(request)
    send(reply)
    const failure = committer.checkpoint(reply.failure?.kind === 'full')
    if (failure) send({ failure })
  } catch (error) {
    send({ failure: toFailure(error, path) })
  }
}
