import type { Database } from 'bun:sqlite'
import { closeSync, statSync } from 'node:fs'
import { PlantError } from '../errors'
import type { Log } from '../log'
import type { NewPlant } from '../plant'
import type { Store, StoreStats } from '../store'
import { type Change, toRow } from './changes'
import { GroupCommit, type Outcome } from './group-commit'
import { tryLock, unlock } from './libc'
import { connect, type OpenedFile, openDatabase, openFile } from './open'
import { preparePlants } from './plants'
import { shareReads } from './shared-read'
import { prepareTokens } from './tokens'
import { type CheckpointReport, type Failure, startWriter, type Writer } from './writer'

const LIMITS = { queuedChanges: 16_384, queuedBytes: 8 * 1024 * 1024, batchChanges: 4096 }
const RETRY_MS = 1000
// Long enough for a daemon that waits for the lock, and tries each millisecond, to get it.
const TURN_MS = 4
// What a change takes beside its texts, roughly.
const CHANGE_BYTES = 100
const ROWS_AT_ONCE = 1000

export type SqliteOptions = {
  /** Whether no other daemon may open the same file: false for commands that work beside one. */
  readonly exclusive: boolean
  readonly create?: boolean
  readonly log: Log
  /** Called after each commit with the changes that shared it and the milliseconds that it took. */
  readonly onCommit?: (changes: number, milliseconds: number) => void
}

const sizeOf = (plant: NewPlant): number =>
  CHANGE_BYTES + plant.name.length + (plant.tag?.length ?? 0)

const fileBytes = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0

const errorOf = ({ kind }: Failure): PlantError =>
  new PlantError(kind === 'full' ? 50701 : kind === 'busy' ? 50301 : 50302)

/**
 * Keeps plants in one SQLite file (https://sqlite.org/wal.html): reads by a connection of this thread, changes by
 * group commit in a thread of their own. Throws an `OpenError` where the file cannot be opened.
 */
export function openSqlite(path: string, options: SqliteOptions): Store {
  const { log } = options
  const file: OpenedFile = openFile(path, options)
  let connection = prepareConnection(openFirst())
  let writer: Promise<Writer> | undefined
  /** Why nothing is written or read for now; null while the storage works. */
  let outage: PlantError | null = null
  /** Why the last checkpoint failed; the log grows until one succeeds. */
  let checkpointFailure: Failure | null = null
  let closed = false

  const changes = new GroupCommit<Change>(commit, LIMITS, options.onCommit)

  function openFirst(): Database {
    try {
      return openDatabase(file, options.exclusive)
    } catch (error) {
      closeSync(file.fd)
      throw error
    }
  }

  function onCheckpoint(report: CheckpointReport): void {
    if ('checkpointFailure' in report) {
      const { kind, detail } = report.checkpointFailure
      if (!checkpointFailure) log('error', 'checkpoint-failed', { detail })
      checkpointFailure = report.checkpointFailure
      if (kind === 'failed') suspend(report.checkpointFailure)
    } else {
      if (checkpointFailure) log('info', 'checkpoint-recovered')
      checkpointFailure = null
    }
  }

  async function commit(batch: Change[]): Promise<Outcome[]> {
    if (outage) throw outage
    if (!options.exclusive) await giveTurn()
    writer ??= startWriter(file.path, onCheckpoint)
    const answer = await writer
      .then((it) => it.ask({ write: batch }))
      .catch((error) => ({ failure: { kind: 'failed', detail: String(error) } as const }))
    // What is read from now on must see this commit.
    connection.shared.end()
    if (answer === 'done') return batch.map(() => null)
    if ('outcomes' in answer) return answer.outcomes
    const { failure } = answer
    if (failure.kind === 'failed' || failure.kind === 'moved') suspend(failure)
    throw errorOf(failure)
  }

  // A command that writes without a pause would keep the daemon that serves the same file from its turn.
  async function giveTurn(): Promise<void> {
    if (tryLock(file.fd)) unlock(file.fd)
    else await Bun.sleep(TURN_MS)
  }

  // After a failed write or sync nothing is trusted that was not read from the disk again: everything is closed,
  // what the page cache holds is dropped, and everything is opened anew.
  function suspend(failure: Failure): void {
    if (outage || closed) return
    outage = errorOf(failure)
    log('error', 'storage-failed', { detail: failure.detail })
    if (failure.kind === 'failed') setTimeout(recover, RETRY_MS)
  }

  async function recover(): Promise<void> {
    if (closed) return
    try {
      await letGo()
      connection = prepareConnection(openDatabase({ ...file, locked: true }, true))
      writer = startWriter(file.path, onCheckpoint)
      const answer = await (await writer).ask({ write: [['probe']] })
      if (answer !== 'done')
        throw new Error('failure' in answer ? answer.failure.detail : 'no write')
      outage = null
      checkpointFailure = null
      log('info', 'storage-recovered')
    } catch (error) {
      log('warn', 'storage-still-fails', { detail: String(error) })
      setTimeout(recover, RETRY_MS)
    }
  }

  async function letGo(): Promise<void> {
    const it = await writer?.catch(() => undefined)
    writer = undefined
    await it?.ask({ close: true })
    it?.terminate()
    connection.shared.end()
    connection.db.close(true)
  }

  /** Reads by the connection of this thread; a storage that fails is an outage. */
  const reading = <T>(read: (it: typeof connection) => T): Promise<T> =>
    using((it) => {
      it.shared.begin()
      return read(it)
    })

  /** Changes something by the connection of this thread, which a read that is open would not allow. */
  const changing = <T>(change: (it: typeof connection) => T): Promise<T> =>
    using((it) => {
      it.shared.end()
      return change(it)
    })

  async function using<T>(act: (it: typeof connection) => T): Promise<T> {
    if (outage) throw outage
    try {
      return act(connection)
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error)
      suspend({ kind: 'failed', detail })
      throw new PlantError(50302, undefined, { cause: error })
    }
  }

  async function* snapshot(): AsyncGenerator<NewPlant[]> {
    const db = connect(file.path)
    try {
      db.run('BEGIN')
      const { list } = preparePlants(db)
      let page = list({ after: null, limit: ROWS_AT_ONCE, tag: null })
      while (page.length > 0) {
        yield page
        page = list({ after: page[page.length - 1]?.id ?? null, limit: ROWS_AT_ONCE, tag: null })
      }
    } finally {
      db.close(true)
    }
  }

  return {
    createPlant: (plant) => changes.submit(['create', ...toRow(plant)], sizeOf(plant)),
    createPlants: (plants) => {
      const bytes = plants.reduce((sum, plant) => sum + sizeOf(plant), 0)
      return changes.submit(['createAll', plants.map(toRow)], bytes)
    },
    replacePlant: (plant) => changes.submit(['replace', ...toRow(plant)], sizeOf(plant)),
    deletePlant: (id) => changes.submit(['delete', String(id)], CHANGE_BYTES),
    readPlant: (id) => reading((it) => it.plants.read(id)),
    listPlants: (query) => reading((it) => it.plants.list(query)),
    snapshot,
    findToken: (hash) => reading((it) => it.tokens.find(hash)),
    createToken: (token) => changing((it) => it.tokens.create(token)),
    listTokens: () => reading((it) => it.tokens.list()),
    revokeToken: (name, now) => changing((it) => it.tokens.revoke(name, now)),
    async probe() {
      await changes.submit(['probe'], CHANGE_BYTES)
      if (checkpointFailure) throw errorOf(checkpointFailure)
    },
    stats(): StoreStats {
      return {
        queued: changes.queued,
        databaseBytes: fileBytes(file.path),
        walBytes: fileBytes(`${file.path}-wal`),
      }
    },
    async close() {
      await changes.drained()
      closed = true
      await letGo()
      closeSync(file.fd)
    },
  }
}

function prepareConnection(db: Database) {
  return { db, shared: shareReads(db), plants: preparePlants(db), tokens: prepareTokens(db) }
}
