// The reads of plants and of the change log, on the connections of a store.

import type { SQL } from 'bun'
import type { PlantQuery, TagQuery } from '../../plant/plants'
import { clientGone, RequestError } from '../../request-errors'
import { createChangeLogReader } from '../change-log-reader'
import { MAX_WAITING_READS, TOO_MANY_READS } from '../page'
import type { Ask } from './connection/connection'
import type { Primary } from './connection/primary'
import { changeLogQueries } from './sql/change-log'
import { countPlants, listPlants, shareReads } from './sql/plants'
import { listTags } from './sql/tags'

/**
 * Limits the waiting reads of a connection: beyond {@link MAX_WAITING_READS} they reject with `busy`, and so does one
 * whose signal is aborted. A query that was sent still counts until it is answered.
 */
export function limitWaiting(ask: Ask) {
  let waiting = 0
  return async <T>(query: (sql: SQL) => PromiseLike<T>, signal?: AbortSignal): Promise<T> => {
    if (waiting === MAX_WAITING_READS) throw new RequestError('busy', TOO_MANY_READS)
    waiting += 1
    const gone = Promise.withResolvers<never>()
    const leave = () => gone.reject(clientGone())
    signal?.addEventListener('abort', leave)
    const answer = ask((sql) => {
      if (signal?.aborted) throw clientGone()
      return query(sql)
    }).finally(() => {
      waiting -= 1
      signal?.removeEventListener('abort', leave)
    })
    return Promise.race([answer, gone.promise])
  }
}

export function createReads(primary: Primary) {
  const askForPages = limitWaiting(primary.reader('pages'))
  return {
    askForPages,
    changeLogReader: createChangeLogReader(changeLogQueries(askForPages)),
    reads: {
      readPlant: shareReads(primary.reader('points')),
      listPlants: (query: PlantQuery, signal?: AbortSignal) =>
        askForPages((sql) => listPlants(sql, query), signal),
      listTags: (query: TagQuery, signal?: AbortSignal) =>
        askForPages((sql) => listTags(sql, query), signal),
      countPlants: () => askForPages(countPlants),
    },
  }
}
