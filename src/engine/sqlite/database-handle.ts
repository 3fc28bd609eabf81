// The storage of a store: a connection for reads, a thread for commits.

import type { Database } from 'bun:sqlite'
import { closeSync } from 'node:fs'
import { type FailedAccess, MESSAGES, OpenError, RequestError, writeError } from '../../errors'
import { tryLock, unlock } from '../../files/libc'
import type { Committed } from '../commit/group-commit'
import { DONE, isDone, type Write } from '../commit/write'
import { observeCommit, type StoreUser } from '../store-user'
import { probe } from './committing/apply-write'
import { type CheckpointWatch, watchCheckpoints } from './committing/checkpoint'
import { WorkerClient } from './committing/worker-client'
import { failureOf } from './committing/worker-protocol'
import type { OpenedFile } from './file/database-file'
import {
  explainFailedOpen,
  type StorageFailure,
  toClientError,
  toCommandError,
  toFailure,
} from './file/errors'
import { holdSidecars, releaseSidecars, watchIndex } from './file/sidecars'
import type { OpenedDatabase } from './open'
import { type ForeignLock, watchForeignLock } from './outages/foreign-lock'
import { Outage } from './outages/outage'
import { type RefusedWrites, watchRefusedWrites } from './outages/refused-writes'
import {
  closeDatabase,
  connect,
  LOCK_PATIENCE_MS,
  prepareServing,
  type ServingConnection,
} from './reading/connection'

// Long enough for a daemon that polls for the lock each millisecond.
const COMMIT_YIELD_MS = 4

/** The storage of one database file. Owned by one store. */
export class DatabaseHandle {
  readonly path: string
  readonly worker: WorkerClient
  /** True if a change log was kept when the storage was opened. */
  readonly keepsChangeLog: boolean
  readonly #checkpoints: CheckpointWatch
  readonly #toError: (failure: StorageFailure) => RequestError
  readonly #outage: Outage
  readonly #lock: ForeignLock
  readonly #refused: RefusedWrites
  #connection: ServingConnection | null = null
  #isIndexReplaced: () => boolean = () => false

  /** Takes ownership of an opened file and its connection. Throws an `OpenError` if it is not a database. */
  constructor(
    private readonly file: OpenedFile,
    { db, inode }: OpenedDatabase,
    private readonly storeUser: StoreUser,
  ) {
    this.#toError = storeUser.outlivesOutages ? toClientError : toCommandError
    this.#outage = new Outage(storeUser, this.#toError, () => this.#reopen())
    this.#lock = watchForeignLock(storeUser, () => this.#tryLock())
    this.#refused = watchRefusedWrites(storeUser, this.#toError, () => this.probe())
    this.#checkpoints = watchCheckpoints(storeUser.log, (failure) => this.#outage.begin(failure))
    this.path = file.path
    try {
      this.#connection = this.#prepare(db)
      this.keepsChangeLog = this.#connection.changeLog.isKept()
      // Only a daemon begins and ends a change log, without notice to a command beside it.
      const mayKeepChangeLog = !storeUser.holdsLock || this.keepsChangeLog
      const database = { path: this.path, inode, mayKeepChangeLog }
      this.worker = new WorkerClient(database, this.#checkpoints.report)
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
    this.worker.confirmations.confirmed()
  }

  /**
   * Makes a batch durable. Rejects if nothing was stored: `busy`, `cannot write` or `disk full`. In doubt, it promises
   * the outcomes for when the disk has been read again; a command gets an error instead.
   */
  async commit(batch: readonly Write[]): Promise<Committed> {
    const refusal = this.#refused.blocking()
    if (refusal) throw refusal
    // Without `await`, Bun would report a rejection as unhandled.
    return await this.#commit(batch)
  }

  async #commit(batch: readonly Write[]): Promise<Committed> {
    this.#requireOpen()
    const refusal = this.#lock.reason()
    if (refusal) throw refusal
    if (!this.storeUser.holdsLock) await this.#yieldToDaemon()
    const started = performance.now()
    const answer = await this.storeUser.uninterrupted(() => this.worker.commit(batch))
    // Later reads must see this commit.
    this.#connection?.shared.end()
    if (answer === DONE || 'outcomes' in answer) {
      const outcomes = answer === DONE ? batch.map(() => DONE) : answer.outcomes
      if (outcomes.some((it) => !isDone(it) && it.error === 'unexpected')) this.#refused.suspect()
      observeCommit(this.storeUser, batch, outcomes, performance.now() - started)
      return outcomes
    }
    const error = this.#fail(answer.failure, batch, performance.now() - started)
    if (!('inDoubt' in answer)) throw error
    if (!this.storeUser.outlivesOutages) {
      throw new RequestError(
        'cannot write',
        `${error.message}; the last changes may or may not be on disk: run it again`,
      )
    }
    const { inDoubt: outcomes, lastEntry } = answer
    return { inDoubt: this.#outage.promiseOutcomes({ batch, outcomes, lastEntry }) }
  }

  /**
   * Writes as much as a create or the last refused batch does, and rolls back. Rejects like a commit. First commits a
   * small write, which also detects a moved file.
   */
  async probe(): Promise<void> {
    const committed = await this.#commit([{ kind: 'probe' }])
    if ('inDoubt' in committed) return
    this.#requireOpen()
    const failure = await this.worker.rehearse(this.#refused.changes())
    this.#refused.rehearsed(failure)
    if (failure) throw this.#toError(failure)
  }

  /** Reads with the connection of this thread; all reads of an event loop turn share a transaction. */
  read<T>(act: (it: ServingConnection) => T): Promise<T> {
    return this.#use((it) => {
      it.shared.begin()
      return act(it)
    }, 'cannot read')
  }

  /** Writes with the connection of this thread, in one transaction. */
  write<T>(act: (it: ServingConnection) => T): Promise<T> {
    return this.#use((it) => it.write(() => act(it)))
  }

  /** The reason that commits fail or are delayed; null if they are not. */
  obstacle(): RequestError | null {
    const failure = this.#checkpoints.failure()
    return this.#outage.reason ?? this.#lock.reason() ?? (failure && this.#toError(failure))
  }

  /** The reason that the store cannot write, or soon will not (the write-ahead log grows); null if there is none. */
  problem(): RequestError | null {
    return this.obstacle() ?? this.#refused.reason()
  }

  /** Closes everything. Clients with a commit in doubt get no answer. */
  async close(): Promise<void> {
    try {
      await this.#outage.close()
      const failure = await this.#closeFiles()
      if (failure) throw new OpenError(`cannot close ${this.path}: ${failure.detail}`, true)
    } catch (error) {
      throw writeError(error, this.path)
    } finally {
      this.#lock.close()
      this.#refused.close()
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
    act: (it: ServingConnection) => T,
    failure: FailedAccess = 'cannot write',
  ): Promise<T> {
    try {
      return act(this.#requireOpen())
    } catch (error) {
      const refusal = this.#refuse(error)
      throw refusal.message === MESSAGES['cannot write'] ? new RequestError(failure) : refusal
    }
  }

  /** The error of a failed use. A storage failure begins an outage; a full disk or a lock does not. */
  #refuse(error: unknown): RequestError {
    if (error instanceof RequestError) return error
    const failure = toFailure(error)
    if (failure.kind === 'failed') this.#outage.begin(failure)
    if (failure.kind === 'full' || failure.kind === 'altered') this.#refused.failed(failure, [])
    return this.#toError(failure)
  }

  // Writes without waiting for a lock.
  #writeAtOnce(act: (it: ServingConnection) => void): Promise<void> {
    return this.#use((it) => {
      it.db.run('PRAGMA busy_timeout = 0')
      try {
        act(it)
      } finally {
        it.db.run(`PRAGMA busy_timeout = ${LOCK_PATIENCE_MS}`)
      }
    })
  }

  #tryLock(): Promise<void> {
    return this.#writeAtOnce(({ db, shared }) => {
      shared.end()
      db.run('BEGIN IMMEDIATE')
      db.run('ROLLBACK')
    })
  }

  #prepare(db: Database): ServingConnection {
    this.#isIndexReplaced = watchIndex(this.path)
    // A command may wait for the reader of its output: a transaction as long would keep the WAL from shrinking.
    const mayShare = () => this.storeUser.outlivesOutages && this.#checkpoints.isFinished()
    return prepareServing(db, mayShare, (error) => this.#outage.begin(toFailure(error)))
  }

  #fail(failure: StorageFailure, batch: readonly Write[], milliseconds: number): RequestError {
    if (failure.kind === 'busy') {
      return this.storeUser.outlivesOutages
        ? this.#lock.waited(milliseconds)
        : this.#toError(failure)
    }
    if (failure.kind === 'failed') this.#outage.begin(failure)
    return this.#refused.failed(failure, batch)
  }

  /** The connection of this thread; throws during an outage and after the end. */
  #requireOpen(): ServingConnection {
    const { reason } = this.#outage
    if (reason || !this.#connection) throw reason ?? new RequestError('cannot write')
    return this.#connection
  }

  // The committing thread first: if the disk hangs, only that thread blocks.
  async #reopen(): Promise<ServingConnection> {
    const unclosed = await this.#closeFiles()
    if (unclosed) this.storeUser.log('warn', 'close-failed', { detail: unclosed.detail })
    const failure =
      (await this.worker.open(true)) ?? failureOf(await this.worker.commit([{ kind: 'probe' }]))
    if (failure) throw new Error(failure.detail)
    this.#connection = this.#prepare(connect(this.path))
    this.#refused.rehearsed(await this.worker.rehearse(this.#refused.changes()))
    this.#checkpoints.reset()
    return this.#connection
  }

  async #closeFiles(): Promise<StorageFailure | null> {
    // The last connection to close removes the WAL, with what others wrote to it by another index.
    if (this.#isIndexReplaced()) holdSidecars(this.file.fd)
    try {
      return await this.#closeConnections()
    } finally {
      releaseSidecars(this.file.fd)
    }
  }

  // This thread's connection first: the last one to close waits for the disk.
  async #closeConnections(): Promise<StorageFailure | null> {
    const connection = this.#connection
    this.#connection = null
    connection?.shared.end()
    if (this.worker.isOpen) {
      connection?.db.close(true)
      return this.worker.close()
    }
    if (connection) closeDatabase(connection.db)
    return null
  }
}
