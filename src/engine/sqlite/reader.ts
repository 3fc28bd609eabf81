// The reads of a store: of plants, tokens and the change log. A store that is only read is a file that another process
// writes or replaces, such as a copy of a backup: each read opens it anew, as of that moment, and writes nothing to it.

import type { Database } from 'bun:sqlite'
import type { ChangeLog } from '../../change-log/change-log'
import { createChangeLogWatch } from '../../change-log/watch'
import { messageOf } from '../../errors'
import { CANNOT_READ, clientGone, RequestError } from '../../request-errors'
import type { ReadOnlyStore, Store } from '../../store'
import { createWrites } from '../commit/plant-writes'
import { tokenWrites } from '../commit/token-writes'
import { MAX_WAITING_READS, TOO_MANY_READS } from '../page'
import type { StoreUser } from '../store-user'
import { prepareChangeLog } from './change-log'
import { freeBytes } from './files'
import { countPlants, preparePlants } from './plants'
import { readDatabase } from './snapshot'
import { prepareTokens } from './tokens'

/** Prepares the queries of a connection. */
export const prepareReader = (db: Database) => ({
  plants: preparePlants(db),
  tokens: prepareTokens(db),
  changeLog: prepareChangeLog(db),
  countPlants: () => countPlants(db),
})

type Reader = ReturnType<typeof prepareReader>

/** Reads with the queries of a connection. */
export type Read = <T>(query: (reader: Reader) => T | Promise<T>) => Promise<T>

/**
 * Returns the function that runs long reads, such as lists, one in each turn of the event loop. It rejects with `busy` if
 * too many are waiting, or if the signal is aborted.
 */
export function createTurns() {
  let waiting = 0
  let turn: Promise<unknown> = Promise.resolve()

  return async <T>(read: () => Promise<T>, signal?: AbortSignal): Promise<T> => {
    if (waiting === MAX_WAITING_READS) throw new RequestError('busy', TOO_MANY_READS)
    waiting += 1
    const own = turn
    turn = own.then(() => new Promise(setImmediate))
    await own
    waiting -= 1
    if (signal?.aborted) throw clientGone()
    return read()
  }
}

/** Returns the reads; `readEnd` reads the change log at once, for a poll. Lists and pages take turns. */
export function createReads(read: Read) {
  const inTurn = createTurns()
  const readEnd: ChangeLog['read'] = (options) => read(({ changeLog }) => changeLog.read(options))
  const changeLog: ChangeLog = {
    watch: createChangeLogWatch(readEnd).watch,
    read: (options) => inTurn(() => readEnd(options), options.signal),
    history: (id, options) =>
      inTurn(() => read(({ changeLog }) => changeLog.history(id, options)), options.signal),
    stats: () => read(({ changeLog }) => changeLog.stats()),
  }
  const reads = {
    readPlant: (id) => read(({ plants }) => plants.read(id)),
    listPlants: (query, signal) => inTurn(() => read(({ plants }) => plants.list(query)), signal),
    listTags: (query, signal) => inTurn(() => read(({ plants }) => plants.tags(query)), signal),
    countPlants: () => read(({ countPlants }) => countPlants()),
    findToken: (hash) => read(({ tokens }) => tokens.find(hash)),
    listTokens: () => read(({ tokens }) => tokens.list()),
  } satisfies Partial<Store>
  return { readEnd, changeLog, reads }
}

/** Opens a file for a command that only reads. A read rejects with an `OpenError` if that fails. */
export function openForCommand(database: string): ReadOnlyStore {
  const { reads, changeLog } = createReads((query) =>
    readDatabase(database, (db) => query(prepareReader(db))),
  )
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
  let problem: RequestError | null = null
  let hasChangeLog = false
  const open: Read = (query) =>
    readDatabase(database, (db) => {
      const reader = prepareReader(db)
      hasChangeLog = reader.changeLog.isKept()
      return query(reader)
    })
  const read: Read = async (query) => {
    try {
      const result = await open(query)
      if (problem) log('info', 'storage-recovered')
      problem = null
      return result
    } catch (error) {
      if (error instanceof RequestError) throw error
      if (!problem) log('error', 'cannot-read', { detail: messageOf(error) })
      problem = new RequestError('storage failed', CANNOT_READ)
      throw problem
    }
  }
  await open(() => {})
  const { reads, changeLog } = createReads(read)
  const { writes, methods } = createWrites(refuse, changeLog.read)

  return {
    ...methods,
    ...reads,
    get changeLog() {
      return hasChangeLog ? changeLog : undefined
    },
    ...tokenWrites(writes),
    async probe() {
      await reads.countPlants()
      return 'ok'
    },
    stats() {
      return {
        problem,
        queuedWrites: 0,
        databaseBytes: Bun.file(database).size,
        walBytes: null,
        freeBytes: freeBytes(database),
        // A file does not say which changes it lacks: beside a quiet daemon, its age would only grow.
        replica: { lagSeconds: null, lagBytes: null },
      }
    },
    close: async () => {},
  }
}
