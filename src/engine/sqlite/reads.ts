// The reads of a store: of plants, tokens and the change log.

import type { Database } from 'bun:sqlite'
import type { ChangeLog } from '../../change-log/change-log'
import { createChangeLogWatch } from '../../change-log/watch'
import { clientGone, RequestError } from '../../request-errors'
import type { Store } from '../../store'
import { createChangeLogReader } from '../change-log-reader'
import { MAX_WAITING_READS, TOO_MANY_READS } from '../page'
import { prepareChangeLogQueries } from './change-log'
import { countPlants, preparePlants } from './plants'
import { prepareTokens } from './tokens'

/** Prepares the queries of a connection. */
export function prepareReader(db: Database) {
  const { queries, ...log } = prepareChangeLogQueries(db)
  return {
    plants: preparePlants(db),
    tokens: prepareTokens(db),
    changeLog: { ...createChangeLogReader(queries), ...log },
    countPlants: () => countPlants(db),
  }
}

type Reader = ReturnType<typeof prepareReader>

/** Reads with the queries of a connection. */
export type Read = <T>(query: (reader: Reader) => T | Promise<T>) => Promise<T>

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
  const reads: Reads = {
    readPlant: (id) => read(({ plants }) => plants.read(id)),
    listPlants: (query, signal) => inTurn(() => read(({ plants }) => plants.list(query)), signal),
    listTags: (query, signal) => inTurn(() => read(({ plants }) => plants.tags(query)), signal),
    countPlants: () => read(({ countPlants }) => countPlants()),
    findToken: (hash) => read(({ tokens }) => tokens.find(hash)),
    listTokens: () => read(({ tokens }) => tokens.list()),
  }
  return { readEnd, changeLog, reads }
}
