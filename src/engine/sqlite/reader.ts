// A store that is only read: a file that another process writes or replaces, such as a copy of a backup. It is opened
// anew for the reads of each turn of the event loop, as of that moment, and nothing is written to it.

import type { Database } from 'bun:sqlite'
import type { ChangeLog } from '../../change-log/change-log'
import { createChangeLogWatch } from '../../change-log/watch'
import { CANNOT_READ, OpenError, RequestError } from '../../errors'
import type { ReadOnlyStore, Store } from '../../store'
import { createWrites } from '../commit/plant-writes'
import type { StoreUser } from '../store-user'
import { fileSize, freeBytes } from './files'
import { createReads, prepareReader, type Reader } from './reads'
import { readDatabase } from './snapshot'

/** A read, and the function that passes its result on. */
type Act = (reader: Reader) => () => void

type Open = <T>(read: (db: Database) => T) => Promise<T>

/** Returns the function that reads; the reads of one turn share an opening. */
function shareOpenings(open: Open, prepare: (db: Database) => Reader) {
  let queue: { readonly act: Act; readonly reject: (reason: unknown) => void }[] = []

  async function readAll(): Promise<void> {
    const reads = queue
    queue = []
    try {
      // Passed on once the file is known not to have changed meanwhile.
      const results = await open((db) => {
        const reader = prepare(db)
        return reads.map(({ act }) => act(reader))
      })
      for (const passOn of results) passOn()
    } catch (error) {
      for (const { reject } of reads) reject(error)
    }
  }

  return <T>(read: (reader: Reader) => T): Promise<T> => {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    if (queue.length === 0) setImmediate(readAll)
    queue.push({
      act(reader) {
        try {
          const result = read(reader)
          return () => resolve(result)
        } catch (error) {
          if (!(error instanceof RequestError)) throw error
          return () => reject(error)
        }
      },
      reject,
    })
    return promise
  }
}

/** The reads of a file that another process may replace; `open` opens it, `prepare` its queries. */
function createFileReads(open: Open, prepare: (db: Database) => Reader) {
  const { readEnd, reads, ...rest } = createReads(shareOpenings(open, prepare))
  const { watch } = createChangeLogWatch(readEnd)
  const changeLog: ChangeLog = { ...rest.changeLog, watch }
  return { reads, changeLog }
}

/** Opens a file for a command that only reads. A read rejects with an `OpenError` if that fails. */
export function openForCommand(database: string): ReadOnlyStore {
  const open: Open = (read) => readDatabase(database, read)
  const { reads, changeLog } = createFileReads(open, prepareReader)
  return { ...reads, changeLog, close: async () => {} }
}

/** Opens a file for a daemon that only reads. Rejects with an `OpenError` if that fails. */
export async function openReplica(
  database: string,
  { log }: StoreUser,
  refusal: RequestError,
): Promise<Store> {
  const refuse = async () => {
    throw refusal
  }
  let failedAt: number | null = null
  let hasChangeLog = false
  const prepare = (db: Database) => {
    const reader = prepareReader(db)
    hasChangeLog = reader.changeLog.isKept()
    return reader
  }
  const open: Open = async (read) => {
    try {
      const result = await readDatabase(database, read)
      if (failedAt !== null) {
        const seconds = Math.round((performance.now() - failedAt) / 1000)
        log('info', 'storage-recovered', { seconds })
      }
      failedAt = null
      return result
    } catch (error) {
      if (!(error instanceof OpenError)) throw error
      if (failedAt === null) log('error', 'storage-failed', { detail: error.message })
      failedAt ??= performance.now()
      throw new RequestError('storage failed', CANNOT_READ)
    }
  }
  await readDatabase(database, prepare)
  const { reads, changeLog } = createFileReads(open, prepare)
  const { methods } = createWrites(refuse, changeLog.read)

  return {
    ...methods,
    ...reads,
    get changeLog() {
      return hasChangeLog ? changeLog : undefined
    },
    createToken: refuse,
    revokeToken: refuse,
    pruneTokens: refuse,
    async probe() {
      await reads.countPlants()
      return 'ok'
    },
    stats() {
      return {
        problem: failedAt === null ? null : new RequestError('storage failed', CANNOT_READ),
        queuedWrites: 0,
        databaseBytes: fileSize(database),
        walBytes: null,
        freeBytes: freeBytes(database),
        // A file does not say which changes it lacks: beside a quiet daemon, its age would only grow.
        replica: { lagSeconds: null, lagBytes: null },
      }
    },
    close: async () => {},
  }
}
