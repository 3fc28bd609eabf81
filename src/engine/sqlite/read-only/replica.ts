// A store that is only read: a file that another process writes or replaces, such as a copy of a backup. It is opened
// anew for the reads of each turn of the event loop, as of that moment, and nothing is written to it or beside it.

import type { Database } from 'bun:sqlite'
import { realpathSync } from 'node:fs'
import { OpenError, RequestError } from '../../../errors'
import type { Store } from '../../../store'
import { createWrites } from '../../commit/plant-writes'
import { StorageState } from '../../storage-state'
import type { StoreUser } from '../../store-user'
import { fileSize, freeBytes } from '../file/database-file'
import { readWhenChanged } from '../reading/latest-page'
import { createReads, prepareReader, type Reader, type Snapshots } from '../reading/reads'
import { readDatabase } from './read'

/** Finds the file of a database, which may be replaced, or behind a link that is switched; the last one if it is gone. */
function createLook(database: string) {
  let path = realpathSync(database)

  return () => {
    try {
      path = realpathSync(database)
    } catch {}
    return path
  }
}

/** A read, and the function that passes its result on. */
type Act = (reader: Reader) => () => void

type Open = <T>(read: (db: Database) => T | Promise<T>) => Promise<T>

/** Returns the function that reads; the reads of one turn share an opening. `onOpened`: called with each. */
function shareOpenings(open: Open, onOpened: (reader: Reader) => void) {
  let queue: { readonly act: Act; readonly reject: (reason: unknown) => void }[] = []

  async function readAll(): Promise<void> {
    const reads = queue
    queue = []
    try {
      // Passed on once the file is known not to have changed meanwhile.
      const results = await open((db) => {
        const reader = prepareReader(db)
        onOpened(reader)
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

/** Opens a file to read it. Rejects with an `OpenError` if that fails. */
export async function openReplica(
  database: string,
  { log }: StoreUser,
  refusal: RequestError,
): Promise<Store> {
  const refuse = async () => {
    throw refusal
  }
  const state = new StorageState({
    log,
    toError: () => new RequestError('cannot read'),
    storage: 'the disk',
    stalledMs: Number.MAX_SAFE_INTEGER,
  })
  let hasChangeLog = false
  const noteChangeLog = ({ changeLog }: Reader) => {
    hasChangeLog = changeLog.isKept()
  }
  const open: Open = async (read) => {
    try {
      const result = await readDatabase(database, 'in place', read)
      state.report('reopened')
      return result
    } catch (error) {
      if (!(error instanceof OpenError)) throw error
      state.report({ source: 'read', failure: { kind: 'failed', detail: error.message } })
      throw new RequestError('cannot read')
    }
  }

  const read = shareOpenings(open, noteChangeLog)
  const snapshots: Snapshots = {
    read: (slicesOf, run, signal) =>
      open(async (db) => {
        const slices = slicesOf(db)
        for (;;) {
          const { done, value } = await run(async () => slices.next(), signal)
          if (done) return value
          await new Promise((resolve) => setImmediate(resolve))
        }
      }),
  }
  await readDatabase(database, 'in place', (db) => noteChangeLog(prepareReader(db)))
  const look = createLook(database)
  const { readEnd, reads, ...rest } = createReads({ read, snapshots })
  const { watch, methods } = createWrites(refuse, readWhenChanged(database, readEnd))

  return {
    ...methods,
    ...reads,
    get changeLog() {
      return hasChangeLog ? { ...rest.changeLog, watch } : undefined
    },
    createToken: refuse,
    revokeToken: refuse,
    pruneTokens: refuse,
    async probe() {
      await read(() => {})
      return 'ok'
    },
    stats() {
      const path = look()
      return {
        problem: state.problem(),
        queuedWrites: 0,
        databaseBytes: fileSize(path),
        walBytes: null,
        freeBytes: freeBytes(path),
        // A file does not say which changes it lacks: beside a quiet daemon, its age would only grow.
        replica: { lagSeconds: null, lagBytes: null },
      }
    },
    close: async () => state.close(),
  }
}
