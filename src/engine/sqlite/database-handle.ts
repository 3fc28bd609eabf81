// The storage of a store: a connection for reads, a thread for commits.

import { closeSync } from 'node:fs'
import { ERRORS, type FailedAccess, OpenError, RequestError, writeError } from '../../errors'
import { tryLock, unlock } from '../../files/libc'
import type { CommitResult } from '../commit/group-commit'
import { isPlantWrite } from '../commit/kinds'
import { DONE, isDone, type Outcome, type PlantWrite, type Write } from '../commit/write'
import { type StorageEvent, type StorageFailure, StorageState } from '../storage-state'
import { observeCommit, type StoreUser } from '../store-user'
import { probe } from './committing/apply-write'
import { type CheckpointWatch, copyLog, watchCheckpoints } from './committing/checkpoint'
import { WorkerClient } from './committing/worker-client'
import { type DatabaseToOpen, failureOf } from './committing/worker-protocol'
import { isWhole } from './copies/check-thread'
import { closeDatabase, connect, LOCK_PATIENCE_MS } from './file/connection'
import { fileSize, freeBytes, type OpenedFile, watchFiles } from './file/database-file'
import {
  DAMAGED_PAGE,
  explainFailedOpen,
  LOCKED,
  toClientError,
  toCommandError,
  toFailure,
  toReadFailure,
} from './file/errors'
import { holdSidecars, releaseSidecars, requireUnused } from './file/sidecars'
import type { OpenedDatabase } from './open'
import { DamageCheck } from './outages/damage-check'
import { Recovery } from './outages/recovery'
import { Doubts } from './outages/settle'
import { SnapshotReads } from './reading/snapshot-reads'
import { prepareServing, type ServingConnection } from './serving'

// Long enough for a daemon that polls for the lock each millisecond.
const COMMIT_YIELD_MS = 4
// A disk that delays a commit for this long counts as unwritable.
const STALLED_MS = 10_000
// A trial writes up to 200 kB, so it is made only on a sign of trouble, or after this time without a write.
const TRIAL_EVERY_MS = 300_000
const MIN_TRIAL_PAUSE_MS = 1000
// A create of the default limit and its entry in the change log take less.
const LOW_SPACE_BYTES = 4 * 1024 * 1024

/** The storage of one database file. Owned by one store. */
export class DatabaseHandle {
  readonly path: string
  readonly worker: WorkerClient
  /** True if a change log was kept when the storage was opened. */
  readonly keepsChangeLog: boolean
  readonly state: StorageState
  readonly snapshots = new SnapshotReads({
    connect: () => connect(this.path),
    use: (act) => this.#use(act, 'cannot read'),
  })
  readonly #checkpoints: CheckpointWatch
  readonly #toError: (failure: StorageFailure) => RequestError
  readonly #recovery: Recovery
  readonly #damage: DamageCheck
  readonly #doubts = new Doubts()
  #connection: ServingConnection | null = null
  #movedFile: ReturnType<typeof watchFiles> = () => null
  /** True if a sidecar was lost before the connections were closed. */
  #hasLostSidecar = false
  /** The changes that a full disk refused, for the next trial: a smaller write may well succeed. */
  #refusedChanges: readonly PlantWrite[] = []
  #triedAt = Number.NEGATIVE_INFINITY
  #triedSchema: bigint | undefined
  /** The end of the change log since the last commit; undefined until it is read. */
  #lastCursor: string | undefined

  /** Takes ownership of an opened file and its connection. Throws an `OpenError` if it is not a database. */
  constructor(
    private readonly file: OpenedFile,
    { db, inode }: OpenedDatabase,
    private readonly storeUser: StoreUser,
  ) {
    this.#toError = storeUser.outlivesOutages ? toClientError : toCommandError
    const { log } = storeUser
    this.state = new StorageState({
      log,
      toError: this.#toError,
      storage: 'the disk',
      stalledMs: STALLED_MS,
    })
    this.#recovery = new Recovery(this.state, {
      reopen: () => this.#recover(),
      lock: () => this.#awaitLock(),
      trial: () => this.trial().catch(() => {}),
    })
    this.#damage = new DamageCheck(
      () => isWhole(file.path),
      () => this.#report('whole'),
    )
    this.#checkpoints = watchCheckpoints(log, (event) => this.#report(event))
    this.path = file.path
    try {
      this.#connection = this.#prepare(db)
      this.keepsChangeLog = this.#connection.changeLog.isKept()
      // Only a daemon begins and ends a change log, without notice to a command beside it.
      const mayKeepChangeLog = !storeUser.holdsLock || this.keepsChangeLog
      const database: DatabaseToOpen = { path: this.path, inode, mayKeepChangeLog }
      this.worker = new WorkerClient(database, this.state, this.#checkpoints.report)
    } catch (error) {
      db.close(true)
      closeSync(file.fd)
      throw explainFailedOpen(error, this.path)
    }
  }

  /**
   * Starts the committing thread early: later, clients may hold all descriptors, and it could not start. Meanwhile this
   * thread writes once, to test whether the store is writable.
   */
  async start(): Promise<void> {
    this.worker.open()
    // An import that holds the lock must not delay the start.
    await this.#writeAtOnce(({ db, write }) => write(() => probe(db)))
  }

  /**
   * Makes a batch durable. Rejects if nothing was stored: `busy`, `cannot write` or `disk full`. In doubt, it promises
   * the outcomes for when the disk has been read again; a command gets an error instead.
   */
  async commit(batch: readonly Write[]): Promise<CommitResult> {
    const refusal = this.state.refusal('write')
    if (refusal) throw refusal
    // Without `await`, Bun would report a rejection as unhandled.
    return await this.#commit(batch)
  }

  async #commit(batch: readonly Write[]): Promise<CommitResult> {
    this.#requireOpen()
    if (!this.storeUser.holdsLock) await this.#yieldToDaemon()
    const startedAt = performance.now()
    const answer = await this.storeUser.deferSuspend(() => this.worker.commit(batch))
    // Later reads must see this commit.
    this.#connection?.sharedReads.end()
    this.#lastCursor = undefined
    const milliseconds = performance.now() - startedAt
    if (answer === DONE || 'outcomes' in answer) {
      const outcomes = answer === DONE ? batch.map(() => DONE) : answer.outcomes
      if (answer !== DONE) this.#inspect(answer.outcomes)
      observeCommit(this.storeUser, batch, outcomes, milliseconds)
      return outcomes
    }
    const error = this.#fail(answer.failure, batch, milliseconds)
    if (!('inDoubt' in answer)) throw error
    if (!this.storeUser.outlivesOutages) {
      throw new RequestError(
        'cannot write',
        `${error.message}; the last changes may or may not be on disk: run it again`,
      )
    }
    const { inDoubt: outcomes, lastEntry } = answer
    const finalOutcomes = this.#doubts.promiseOutcomes({ batch, outcomes, lastEntry })
    this.#report({ source: 'doubt', failure: answer.failure })
    return { inDoubt: finalOutcomes }
  }

  /** True if the file, its free space or its schema calls for a trial. Writes nothing. */
  isTrialDue(): boolean {
    const now = performance.now()
    // In any other state, the recovery tries.
    if (this.state.problem() || now < this.#triedAt + MIN_TRIAL_PAUSE_MS) return false
    if (now >= this.#triedAt + TRIAL_EVERY_MS && this.state.sinceConfirmed() >= TRIAL_EVERY_MS)
      return true
    try {
      return (
        (freeBytes(this.path) ?? Number.POSITIVE_INFINITY) < LOW_SPACE_BYTES ||
        this.#movedFile() !== null ||
        this.#connection?.schemaVersion() !== this.#triedSchema
      )
    } catch {
      return true
    }
  }

  /**
   * Writes as much as a create or the last refused batch does, and rolls back. Rejects like a commit. First commits a
   * small write, which also detects a moved file.
   */
  async trial(): Promise<void> {
    const refusal = this.state.refusal('trial')
    if (refusal) throw refusal
    this.#triedAt = performance.now()
    this.#triedSchema = this.#requireOpen().schemaVersion()
    const result = await this.#commit([{ kind: 'probe' }])
    if ('inDoubt' in result) return
    this.#requireOpen()
    const failure = await this.#rehearse()
    if (failure) throw this.#toError(failure)
  }

  /** Reads with the connection of this thread; all reads of an event loop turn share a transaction. */
  read<T>(act: (connection: ServingConnection) => T): Promise<T> {
    return this.#use((connection) => {
      connection.sharedReads.begin()
      return act(connection)
    }, 'cannot read')
  }

  /** See `ChangeLog`: read once for all changes of a commit. */
  lastCursor(): string | undefined {
    try {
      this.#lastCursor ??= this.#requireOpen().changeLog.lastCursor()
    } catch {
      // The change is durable; its client can do without the cursor.
    }
    return this.#lastCursor
  }

  /** Writes with the connection of this thread, in one transaction. */
  write<T>(act: (connection: ServingConnection) => T): Promise<T> {
    return this.#use((connection) => connection.write(() => act(connection)))
  }

  /** Closes everything. Clients with a commit in doubt get no answer. */
  async close(): Promise<void> {
    try {
      await this.#recovery.close()
      const failure = await this.#closeFiles()
      if (failure) throw new OpenError(`cannot close ${this.path}: ${failure.detail}`, true)
    } catch (error) {
      throw writeError(error, this.path)
    } finally {
      this.#damage.close()
      this.state.close()
      this.worker.terminate()
      closeSync(this.file.fd)
    }
  }

  // Beside a daemon on the same file, a command pauses before each commit, so that the daemon gets the lock.
  async #yieldToDaemon(): Promise<void> {
    if (tryLock(this.file.fd)) unlock(this.file.fd)
    else await Bun.sleep(COMMIT_YIELD_MS)
  }

  async #use<T>(
    act: (connection: ServingConnection) => T,
    access: FailedAccess = 'cannot write',
  ): Promise<T> {
    try {
      return act(this.#requireOpen())
    } catch (error) {
      const refusal = this.#refuse(error, access)
      throw refusal.message === ERRORS['cannot write'].message ? new RequestError(access) : refusal
    }
  }

  /** Reports an event to the state, and starts the recovery from a failure. */
  #report(event: StorageEvent): void {
    this.state.report(event)
    if (!this.storeUser.outlivesOutages) return
    this.#recovery.start()
    if (this.state.isDamaged) this.#damage.start()
  }

  /** The error of a failed use. */
  #refuse(error: unknown, access: FailedAccess): RequestError {
    if (error instanceof RequestError) return error
    const failure = access === 'cannot read' ? toReadFailure(error) : toFailure(error)
    this.#report({ source: 'read', failure })
    return this.#toError(failure)
  }

  // Writes without waiting for a lock.
  #writeAtOnce(act: (connection: ServingConnection) => void): Promise<void> {
    return this.#use((connection) => {
      connection.db.run('PRAGMA busy_timeout = 0')
      try {
        act(connection)
      } finally {
        connection.db.run(`PRAGMA busy_timeout = ${LOCK_PATIENCE_MS}`)
      }
    })
  }

  async #awaitLock(): Promise<void> {
    const lock = this.#writeAtOnce(({ db, sharedReads }) => {
      sharedReads.end()
      db.run('BEGIN IMMEDIATE')
      db.run('ROLLBACK')
    })
    await lock.then(
      () => this.#report('unlocked'),
      () => {},
    )
  }

  #prepare(db: OpenedDatabase['db']): ServingConnection {
    this.#movedFile = watchFiles(this.path)
    // A command may wait for its output to be read: a transaction that long would keep the WAL from shrinking.
    const mayShare = () => this.storeUser.outlivesOutages && this.#checkpoints.isFinished()
    return prepareServing(db, mayShare, (error) =>
      this.#report({ source: 'read', failure: toReadFailure(error) }),
    )
  }

  #fail(failure: StorageFailure, batch: readonly Write[], milliseconds: number): RequestError {
    // A command never retries, so nothing would clear the state.
    if (failure.kind === 'busy' && !this.storeUser.outlivesOutages) return this.#toError(failure)
    // Any other failure may be the fault of this batch alone: trying it again would block all others.
    if (failure.kind === 'full' && batch.some(isPlantWrite))
      this.#refusedChanges = batch.filter(isPlantWrite)
    const reportedFailure = failure.kind === 'busy' ? { ...failure, detail: LOCKED } : failure
    const since = performance.now() - milliseconds
    this.#report({ source: 'commit', failure: reportedFailure, since })
    if (failure.kind === 'damaged') this.#suspect()
    return this.#toError(failure)
  }

  /** Reports refusals whose cause may affect other writes. */
  #inspect(outcomes: readonly Outcome[]): void {
    for (const outcome of outcomes) {
      if (isDone(outcome)) continue
      const { error } = outcome
      if (error === 'cannot write')
        this.#report({ source: 'commit', failure: { kind: 'damaged', detail: DAMAGED_PAGE } })
      if (error === 'cannot write' || error === 'unexpected') this.#suspect()
    }
  }

  #suspect(): void {
    if (this.storeUser.outlivesOutages) this.#recovery.suspect()
  }

  async #rehearse(): Promise<StorageFailure | null> {
    const failure = await this.worker.rehearse(this.#refusedChanges)
    this.#report(failure ? { source: 'trial', failure } : 'tried')
    if (!failure) this.#refusedChanges = []
    return failure
  }

  /** The connection of this thread; throws during an outage and after the end. */
  #requireOpen(): ServingConnection {
    const reason = this.state.refusal('read')
    if (reason || !this.#connection) throw reason ?? new RequestError('cannot write')
    return this.#connection
  }

  async #recover(): Promise<void> {
    try {
      const connection = await this.#reopen()
      this.#doubts.settle(connection)
      this.#report('reopened')
    } catch (error) {
      this.storeUser.log('warn', 'storage-still-fails', { detail: String(error) })
    }
  }

  // The committing thread first: if the disk hangs, only that thread blocks.
  async #reopen(): Promise<ServingConnection> {
    const closeFailure = await this.#closeFiles()
    if (closeFailure) this.storeUser.log('warn', 'close-failed', { detail: closeFailure.detail })
    if (this.#hasLostSidecar) requireUnused(this.path, this.file.fd)
    const failure =
      (await this.worker.open(true)) ?? failureOf(await this.worker.commit([{ kind: 'probe' }]))
    if (failure) throw new Error(failure.detail)
    this.#connection = this.#prepare(connect(this.path))
    await this.#rehearse()
    return this.#connection
  }

  async #closeFiles(): Promise<StorageFailure | null> {
    const movedFile = this.#movedFile()
    if (this.#connection) {
      if (movedFile === 'log') this.#saveLog(this.#connection)
      this.#hasLostSidecar = movedFile === 'log' || movedFile === 'index'
    }
    // The last connection to close removes the WAL, with what others wrote to it by another index.
    if (movedFile === 'index' || movedFile === 'database') holdSidecars(this.file.fd)
    try {
      return await this.#closeConnections()
    } finally {
      // A moved database stays in use: without its WAL, commands would read an old state, and lose what they write.
      if (movedFile !== 'database') releaseSidecars(this.file.fd)
    }
  }

  /** Copies a removed WAL into the database: unless this is the last connection, closing would not. */
  #saveLog({ db, sharedReads }: ServingConnection): void {
    // Another program has written to a new one.
    if (fileSize(`${this.path}-wal`) > 0) return
    this.snapshots.end()
    sharedReads.end()
    if (copyLog(db)) return
    throw new OpenError(
      `the write-ahead log of ${this.path} was removed, and another program reads an old state; end it: fuser ${this.path}`,
      true,
    )
  }

  // This thread's connection first: the last one to close waits for the disk.
  async #closeConnections(): Promise<StorageFailure | null> {
    const connection = this.#connection
    this.#connection = null
    this.snapshots.end()
    connection?.sharedReads.end()
    if (this.worker.isOpen) {
      connection?.db.close(true)
      return this.worker.close()
    }
    if (connection) closeDatabase(connection.db)
    return null
  }
}
