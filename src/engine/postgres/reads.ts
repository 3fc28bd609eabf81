// The reads of plants and of the change log, on the connections of a store.

import type { PlantQuery, TagQuery } from '../../plant/plants'
import type { Primary } from './connection/primary'
import { limitWaiting } from './connection/readers'
import { createChangeLogReader } from './sql/change-log'
import { countPlants, listPlants, shareReads } from './sql/plants'
import { listTags } from './sql/tags'

export function createReads(primary: Primary) {
  const askForPages = limitWaiting(primary.reader('pages'))
  return {
    askForPages,
    changeLogReader: createChangeLogReader(askForPages),
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
