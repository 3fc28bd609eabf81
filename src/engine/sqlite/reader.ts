// A store that is only read: a file that another process writes or replaces, such as a copy of a backup. Each read opens
// it anew, as of that moment, and writes nothing to it.

import { OpenError } from '../../errors'
import { CANNOT_READ, RequestError } from '../../request-errors'
import type { ReadOnlyStore, Store } from '../../store'
import { createWrites } from '../commit/plant-writes'
import type { StoreUser } from '../store-user'
import { fileSize, freeBytes } from './files'
import { createReads, prepareReader, type Read } from './reads'
import { readDatabase } from './snapshot'

/** Opens a file for a command that only reads. A read rejects with an `OpenError` if that fails. */
export function openForCommand(database: string): ReadOnlyStore {
  const { reads, changeLog } = createReads((act) =>
    readDatabase(database, (db) => act(prepareReader(db))),
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
  let failedAt: number | null = null
  let hasChangeLog = false
  const open: Read = (act) =>
    readDatabase(database, (db) => {
      const reader = prepareReader(db)
      hasChangeLog = reader.changeLog.isKept()
      return act(reader)
    })
  const read: Read = async (act) => {
    try {
      const result = await open(act)
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
  await open(() => {})
  const { reads, changeLog } = createReads(read)
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
