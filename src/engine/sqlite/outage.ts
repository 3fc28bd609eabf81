// The storage under a store: one connection that reads, one thread that commits. After a failed write or sync it is
// suspended, everything is closed and read from the disk anew, and what was in doubt is settled.

import type { Database } from 'bun:sqlite'
import { closeSync } from 'node:fs'
import { explainWriting, OpenError, PlantError } from '../../errors'
import { tryLock, unlock, watchInode } from '../../files/libc'
import { type Change, netEffect, type Outcome, type Row, type RowId } from '../change'
import type { Committed } from '../group-commit'
import type { Role } from '../role'
import { prepareChanges } from './apply-change'
import { watchCheckpoints } from './checkpoint'
import { connect } from './connection'
import { closeDatabase, type OpenedFile, openDatabase, openFile } from './database-file'
import { explain, type Failure, toClientError, toCommandError, toFailure } from './errors'
import { preparePlants } from './plants'
import { shareReads } from './shared-reads'
import { prepareTokens } from './tokens'
import { startWorker, type WorkerClient } from './worker-client'
import { type Answer, failureOf } from './worker-protocol'

const RETRY_MS = 1000
// Long enough for a daemon that waits for the lock, and tries each millisecond, to get it.
const COMMIT_YIELD_MS = 4
// A full disk refuses each change: the log says so from time to time.
const FULL_LOGGED_EVERY_MS = 60_000

function prepareConnection(db: Database, onFailure: (error: unknown) => void) {
  return {
    db,
    shared: shareReads(db, onFailure),
    plants: preparePlants(db),
    tokens: prepareTokens(db),
  }
}

/** The connection of the serving thread. */
export type Connection = ReturnType<typeof prepareConnection>

/** A batch whose COMMIT failed, and so did the overwrite: its outcomes, if the disk holds it. */
type Doubt = {
  readonly changes: readonly Change[]
  readonly outcomes: readonly Outcome[] | null
  readonly settled: PromiseWithResolvers<readonly Outcome[]>
}

function isStored({ plants }: Connection, id: RowId, row: Row | null): boolean {
  const plant = plants.read(BigInt(id))
  if (!plant || !row) return !plant && !row
  return plant.name === row[1] && (plant.tag ?? null) === row[2]
}

/**
 * How a batch in doubt ended, as one transaction: made, where every plant that it changed is as it left it; else none of
 * it was. (Where both look alike, it changed nothing that anybody could see.)
 */
function settle({ changes, outcomes }: Doubt, connection: Connection): readonly Outcome[] | null {
  if (!outcomes) return null
  const left = [...netEffect(changes, outcomes)]
  const isMade = left.every(([id, row]) => isStored(connection, id, row))
  return isMade ? outcomes : changes.map(() => ({ error: 50302 }))
}

/** The storage of one database file. Owned by one store. */
export class Storage {
  readonly path: string
  readonly #file: OpenedFile
  readonly #inode: string | null
  readonly #checkpoints: ReturnType<typeof watchCheckpoints>
  readonly #toError: (failure: Failure) => PlantError
  #connection: Connection | null = null
  #worker: WorkerClient | undefined
  #isWorkerOpen = false
  #opening: Promise<Answer> | undefined
  /** Why nothing is read or written for now; null while the storage works. */
  #outage: PlantError | null = null
  #doubt: Doubt | undefined
  #isClosed = false
  #confirmedAt = Number.NEGATIVE_INFINITY
  #pendingSince: number | null = null
  #pending = 0
  #fullLoggedAt = Number.NEGATIVE_INFINITY

  /** Throws an `OpenError` where the file cannot be opened. */
  constructor(
    path: string,
    private readonly role: Role,
  ) {
    this.#toError = role.outlivesOutages ? toClientError : toCommandError
    this.#checkpoints = watchCheckpoints(role.log, (failure) => this.#suspend(failure))
    this.#file = openFile(path, role)
    this.path = this.#file.path
    this.#inode = watchInode(this.path)()
    try {
      this.#connection = this.#prepare(openDatabase(this.#file, role.holdsLock))
    } catch (error) {
      closeSync(this.#file.fd)
      throw error instanceof OpenError ? error : explain(error, this.path)
    }
  }

  /**
   * Starts the committing thread before the first commit needs it: while others hold all descriptors it could not start.
   * Meanwhile this thread writes once, so that the first to ask knows whether the store can be written.
   */
  async start(): Promise<void> {
    this.#opening = this.#openWorker(false)
    await this.use(({ db }) => {
      // An import that holds the lock is no reason to start later.
      db.run('PRAGMA busy_timeout = 0')
      try {
        prepareChanges(db)(['probe'])
      } finally {
        db.run('PRAGMA busy_timeout = 10000')
      }
    })
    this.#confirmedAt = performance.now()
  }

  /**
   * Makes a batch durable. Rejects where nothing of it was stored: 50301, 50302 or 50701. In doubt, its outcomes are
   * promised for when the disk has been read again; a command is told so instead.
   */
  async commit(changes: readonly Change[]): Promise<Committed> {
    if (this.#outage) throw this.#outage
    const started = performance.now()
    this.#pendingSince ??= started
    this.#pending += 1
    const answer = await this.#ask(changes)
    this.#pending -= 1
    this.#pendingSince = this.#pending > 0 ? performance.now() : null
    // What is read from now on must see this commit.
    this.#connection?.shared.end()
    if (answer === 'done' || 'outcomes' in answer) {
      const outcomes = answer === 'done' ? changes.map(() => null) : answer.outcomes
      this.#confirm(changes, outcomes, started)
      return outcomes
    }
    this.#fail(answer.failure)
    if (!('inDoubt' in answer)) throw this.#toError(answer.failure)
    if (!this.role.outlivesOutages) {
      const { message } = this.#toError(answer.failure)
      throw new PlantError(
        50302,
        `${message}; the last changes may or may not be on disk: run it again`,
      )
    }
    const settled = Promise.withResolvers<readonly Outcome[]>()
    this.#doubt = { changes, outcomes: answer.inDoubt, settled }
    return { inDoubt: settled.promise }
  }

  /** Acts on the connection of this thread. Storage that fails is an outage; full or locked, it is not. */
  async use<T>(act: (it: Connection) => T): Promise<T> {
    if (this.#outage || !this.#connection) throw this.#outage ?? new PlantError(50302)
    try {
      return act(this.#connection)
    } catch (error) {
      const failure = toFailure(error)
      if (failure.kind === 'failed') this.#suspend(failure)
      throw this.#toError(failure)
    }
  }

  /** Where a daemon serves the same file, a command rests for some milliseconds, so that the daemon gets the lock. */
  async yieldToDaemon(milliseconds: number): Promise<void> {
    if (this.role.holdsLock) return
    if (tryLock(this.#file.fd)) unlock(this.#file.fd)
    else await Bun.sleep(milliseconds)
  }

  /** Why the store cannot write, or not for ever; null where it can. */
  problem(): PlantError | null {
    const failure = this.#checkpoints.failure()
    return this.#outage ?? (failure && this.#toError(failure))
  }

  /** Milliseconds since a commit was confirmed. */
  sinceConfirmed(): number {
    return performance.now() - this.#confirmedAt
  }

  /** Milliseconds for which the disk has kept a commit waiting; 0 where none waits. */
  stalledFor(): number {
    return this.#pendingSince === null ? 0 : performance.now() - this.#pendingSince
  }

  /** Closes everything. Clients whose commit is in doubt are not answered. */
  async close(): Promise<void> {
    this.#isClosed = true
    try {
      const failure = await this.#closeFiles()
      if (failure) throw new OpenError(`cannot close ${this.path}: ${failure.detail}`, true)
    } catch (error) {
      throw explainWriting(error, this.path)
    } finally {
      this.#worker?.terminate()
      closeSync(this.#file.fd)
    }
  }

  #prepare(db: Database): Connection {
    return prepareConnection(db, (error) => this.#suspend(toFailure(error)))
  }

  async #openWorker(distrustsPageCache: boolean): Promise<Answer> {
    if (!this.#worker || this.#worker.isDead()) {
      this.#worker = startWorker((report) => this.#checkpoints.report(report))
    }
    const { path } = this
    const answer = await this.#worker.ask({
      open: { path, inode: this.#inode, distrustsPageCache },
    })
    this.#isWorkerOpen = answer === 'done'
    return answer
  }

  async #ask(changes: readonly Change[]): Promise<Answer> {
    if (!this.#worker || !this.#isWorkerOpen) {
      this.#opening ??= this.#openWorker(false)
      const answer = await this.#opening
      this.#opening = undefined
      return answer === 'done' ? this.#ask(changes) : answer
    }
    if (!this.role.holdsLock) await this.yieldToDaemon(COMMIT_YIELD_MS)
    return this.#worker.ask({ commit: changes })
  }

  #confirm(changes: readonly Change[], outcomes: readonly Outcome[], started: number): void {
    this.#confirmedAt = performance.now()
    let changed = 0
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome?.detail) this.role.log('error', 'unexpected', { detail: outcome.detail })
      if (outcome === null && changes[index]?.[0] !== 'probe') changed += 1
    }
    if (changed > 0) this.role.onCommit(changed, this.#confirmedAt - started)
  }

  #fail(failure: Failure): void {
    if (failure.kind === 'failed') this.#suspend(failure)
    if (failure.kind !== 'full') return
    if (performance.now() < this.#fullLoggedAt + FULL_LOGGED_EVERY_MS) return
    this.#fullLoggedAt = performance.now()
    this.role.log('error', 'disk-full', { detail: failure.detail })
  }

  // After a failed write or sync nothing is trusted that was not read from the disk again.
  #suspend(failure: Failure): void {
    if (this.#outage || this.#isClosed) return
    this.#outage = this.#toError(failure)
    this.role.log('error', 'storage-failed', { detail: failure.detail })
    if (this.role.outlivesOutages) setTimeout(() => this.#recover(), RETRY_MS)
  }

  async #recover(): Promise<void> {
    if (this.#isClosed) return
    try {
      const unclosed = await this.#closeFiles()
      if (unclosed) this.role.log('warn', 'close-failed', { detail: unclosed.detail })
      if (this.#isClosed) return
      const failure =
        failureOf(await this.#openWorker(true)) ?? failureOf(await this.#ask([['probe']]))
      if (failure) throw new Error(failure.detail)
      this.#connection = this.#prepare(connect(this.path))
      this.#settleDoubt(this.#connection)
      this.#outage = null
      this.#checkpoints.reset()
      this.role.log('info', 'storage-recovered')
    } catch (error) {
      this.role.log('warn', 'storage-still-fails', { detail: String(error) })
      setTimeout(() => this.#recover(), RETRY_MS)
    }
  }

  #settleDoubt(connection: Connection): void {
    if (!this.#doubt) return
    const outcomes = settle(this.#doubt, connection)
    // Where the thread died nobody knows what its outcomes were: such clients are not answered.
    if (outcomes) this.#doubt.settled.resolve(outcomes)
    this.#doubt = undefined
  }

  // This thread's connection first: the last one to close waits for the disk.
  async #closeFiles(): Promise<Failure | null> {
    const connection = this.#connection
    this.#connection = null
    connection?.shared.end()
    if (!this.#isWorkerOpen || !this.#worker) {
      if (connection) closeDatabase(connection.db, this.path)
      return null
    }
    connection?.db.close(true)
    this.#isWorkerOpen = false
    return failureOf(await this.#worker.ask({ close: true }))
  }
}
