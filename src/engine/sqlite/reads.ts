// The reads of a store: of plants, tokens and the change log.

import type { Database } from 'bun:sqlite'
import type { ChangeLog } from '../../change-log/change-log'
import { createChangeLogWatch } from '../../change-log/watch'
import { clientGone, RequestError } from '../../request-errors'
import type { Store } from '../../store'
import { MAX_WAITING_READS, TOO_MANY_READS } from '../page'
import { type ChangeLogReader, prepareChangeLogReader } from './change-log'
import { countPlants, type PlantReader, preparePlants } from './plants'
import { prepareTokenReader, type TokenReader } from './tokens'

/** A connection, and its prepared queries. */
export type Reader = {
  readonly db: Database
  readonly plants: PlantReader
  readonly tokens: TokenReader
  readonly changeLog: ChangeLogReader
}

export const prepareReader = (db: Database): Reader => ({
  db,
  plants: preparePlants(db),
  tokens: prepareTokenReader(db),
  changeLog: prepareChangeLogReader(db),
})

/**
 * Returns the function that runs long reads, such as lists, one in each turn of the event loop; the first at once. It
 * rejects with `busy` if too many are waiting, or if the signal is aborted meanwhile.
 */
export function createTurns() {
  const waiting = new Set<() => void>()
  let isTurning = false

  function runNext(): void {
    const [next] = waiting
    isTurning = next !== undefined
    if (!next) return
    waiting.delete(next)
    next()
    setImmediate(runNext)
  }

  return <T>(read: () => Promise<T>, signal?: AbortSignal): Promise<T> => {
    if (waiting.size === MAX_WAITING_READS)
      return Promise.reject(new RequestError('busy', TOO_MANY_READS))
    return new Promise((resolve, reject) => {
      const run = () => void read().then(resolve, reject)
      waiting.add(run)
      signal?.addEventListener('abort', () => {
        if (waiting.delete(run)) reject(clientGone())
      })
      if (!isTurning) runNext()
    })
  }
}

type Reads = Pick<
  Store,
  'readPlant' | 'listPlants' | 'listTags' | 'countPlants' | 'findToken' | 'listTokens'
>

/** Returns the reads; `readEnd` reads the change log at once, for a poll. Lists and pages take turns. */
export function createReads(read: <T>(act: (reader: Reader) => T) => Promise<T>) {
  const inTurn = createTurns()
  const readEnd: ChangeLog['read'] = (options) => read(({ changeLog }) => changeLog.read(options))
  const changeLog: ChangeLog = {
    watch: createChangeLogWatch(readEnd).watch,
    read: (options) => inTurn(() => readEnd(options), options.signal),
    history: (id, options) =>
      inTurn(() => read(({ changeLog }) => changeLog.history(id, options)), options.signal),
    stats: () => read(({ changeLog }) => changeLog.stats()),
  }
  const reads: Reads = {
    readPlant: (id) => read(({ plants }) => plants.read(id)),
    listPlants: (query, signal) => inTurn(() => read(({ plants }) => plants.list(query)), signal),
    listTags: (query, signal) => inTurn(() => read(({ plants }) => plants.tags(query)), signal),
    countPlants: () => read(({ db }) => countPlants(db)),
    findToken: (hash) => read(({ tokens }) => tokens.find(hash)),
    listTokens: () => read(({ tokens }) => tokens.list()),
  }
  return { readEnd, changeLog, reads }
}
