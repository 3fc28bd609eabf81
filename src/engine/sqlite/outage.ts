import type { Database } from 'bun:sqlite'
import { closeSync } from 'node:fs'
import { dirname } from 'node:path'
import { explainWriting, OpenError, PlantError } from '../../errors'
import { tryLock, unlock, watchInode } from '../../files/libc'
import { syncFolder } from '../../files/sync'
import type { Log } from '../../log'
import type { Commit, Outcome } from '../group-commit'
import type { Change } from './apply-change'
import { watchCheckpoints } from './checkpoint'
import { filesOf } from './committer'
import { openDatabase, openFile } from './database-file'
import { explain } from './errors'
import { type Failure, toClientError, toCommandError, toFailure } from './failure'
import { preparePlants } from './plants'
import { settle } from './settle'
import { shareReads } from './shared-reads'
import { prepareTokens } from './tokens'
import { createWriter } from './writer'

const RETRY_MS = 1000
// A full disk refuses each change: the log tells of it from time to time.
const FULL_EVERY_MS = 60_000
// Long enough for a daemon that waits for the lock, and tries each millisecond, to get it.
const TURN_MS = 4

const IN_DOUBT = 'the storage fails; whether the last plants were stored is not known: run it again'

export type StorageOptions = {
  /** Whether no other daemon may open the same file: false for commands that work beside one. */
  readonly exclusive: boolean
  readonly create?: boolean
  readonly log: Log
}

const prepareConnection = (db: Database, onFailure: (error: unknown) => void) => ({
  db,
  shared: shareReads(db, onFailure),
  plants: preparePlants(db),
  tokens: prepareTokens(db),
})

/** The connection that reads. */
export type Connection = ReturnType<typeof prepareConnection>

export type Storage = ReturnType<typeof openStorage>

/**
 * The file of a database, with a connection for reads and a writer for changes; closed and opened anew when the storage
 * failed. Throws an `OpenError` where the file cannot be opened.
 */
export function openStorage(path: string, options: StorageOptions) {
  const { log, exclusive } = options
  const file = openFile(path, options)
  let connection: Connection | null = null
  /** Why nothing is written or read for now; null while the storage works. */
  let outage: PlantError | null = null
  let afterOutage: PromiseWithResolvers<void> | undefined
  let isClosed = false
  let fullTold = Number.NEGATIVE_INFINITY
  const checkpoints = watchCheckpoints(log, suspend)
  const writer = createWriter(checkpoints.report)
  const inode = watchInode(file.path)
  const opened = inode()

  const errorOf = exclusive ? toClientError : toCommandError

  function tellFull({ detail }: Failure): void {
    if (performance.now() < fullTold + FULL_EVERY_MS) return
    fullTold = performance.now()
    log('error', 'disk-full', { detail })
  }

  function open(): void {
    // Another file at the path is another store, which nobody has asked for.
    if (inode() !== opened) throw new OpenError(`${file.path} was moved, replaced or deleted`, true)
    connection = prepareConnection(openDatabase(file, exclusive), (error) =>
      suspend(toFailure(error)),
    )
    writer.open(filesOf(file.path))
  }

  // Where another process serves the same file, a command that works without a rest would keep it from its turn.
  async function pause(milliseconds: number): Promise<void> {
    if (tryLock(file.fd)) unlock(file.fd)
    else await Bun.sleep(milliseconds)
  }
  /** Pauses beside a daemon; null in the daemon itself, which holds the lock and waits for nobody. */
  const giveTurn = exclusive ? null : pause

  /** Makes a batch of changes durable, as {@link Commit} says. */
  const write: Commit<Change> = async (batch) => {
    if (outage) throw outage
    if (giveTurn) await giveTurn(TURN_MS)
    const answer = await writer.commit(batch)
    // What is read from now on must see this commit.
    connection?.shared.end()
    if (answer === 'done') return batch.map(() => null)
    if ('outcomes' in answer) {
      for (const outcome of answer.outcomes) {
        if (outcome?.detail) log('error', 'unexpected', { detail: outcome.detail })
      }
      return answer.outcomes
    }
    const { failure } = answer
    if (failure.kind === 'full') tellFull(failure)
    else if (failure.kind !== 'busy') suspend(failure)
    if (failure.kind !== 'doubtful') throw errorOf(failure)
    // A command does not wait for the disk to heal: it can be run again.
    if (!exclusive) throw new PlantError(50302, IN_DOUBT)
    // To say that nothing was stored might be wrong: nobody is answered before the disk has been read again.
    return batch.map(async (change) => {
      if (change[0] === 'probe') throw errorOf(failure)
      return settleLater(change)
    })
  }

  /** How a change ended, as soon as the disk can tell; never, where the storage is closed before. */
  async function settleLater(change: Change): Promise<Outcome> {
    while (!isClosed) {
      await afterOutage?.promise
      try {
        return await use(({ plants }) => settle(change, plants))
      } catch {
        // It fails again: there is another outage to wait for.
      }
    }
    return new Promise(() => {})
  }

  // After a failed write or sync nothing is trusted that was not read from the disk again: everything is closed,
  // what the page cache holds is dropped, and everything is opened anew.
  function suspend(failure: Failure): void {
    if (outage || isClosed) return
    outage = errorOf(failure)
    afterOutage = Promise.withResolvers()
    log('error', 'storage-failed', { detail: failure.detail })
    setTimeout(recover, RETRY_MS)
  }

  async function recover(): Promise<void> {
    if (isClosed) return
    try {
      await letGo()
      if (isClosed) return
      open()
      const answer = await writer.commit([['probe']])
      if (answer !== 'done')
        throw new Error('failure' in answer ? answer.failure.detail : 'no write')
      outage = null
      checkpoints.forget()
      log('info', 'storage-recovered')
      afterOutage?.resolve()
    } catch (error) {
      log('warn', 'storage-still-fails', { detail: String(error) })
      setTimeout(recover, RETRY_MS)
    }
  }

  async function letGo(): Promise<void> {
    const answer = await writer.close()
    if (answer !== 'done') log('warn', 'close-failed', { detail: JSON.stringify(answer) })
    const last = connection
    connection = null
    last?.shared.end()
    last?.db.close(true)
    // The last connection removes the log: so that it stays removed.
    syncFolder(dirname(file.path))
  }

  /** Acts by the connection of this thread. A storage that fails is an outage; one that is full or in use is not. */
  async function use<T>(act: (it: Connection) => T): Promise<T> {
    if (outage || !connection) throw outage ?? new PlantError(50302)
    try {
      return act(connection)
    } catch (error) {
      const failure = toFailure(error)
      if (failure.kind === 'failed') suspend(failure)
      throw errorOf(failure)
    }
  }

  async function close(): Promise<void> {
    isClosed = true
    try {
      await letGo()
    } catch (error) {
      throw explainWriting(error, file.path)
    } finally {
      writer.terminate()
      closeSync(file.fd)
    }
  }

  try {
    open()
  } catch (error) {
    writer.terminate()
    closeSync(file.fd)
    throw error instanceof OpenError ? error : explain(error, file.path)
  }
  return {
    path: file.path,
    write,
    use,
    giveTurn,
    /** Why the store cannot go on for ever as it is; null where it can. */
    problem: (): PlantError | null => {
      const failure = checkpoints.failure()
      return outage ?? (failure && errorOf(failure))
    },
    close,
  }
}
