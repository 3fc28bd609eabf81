// The reads of a store: of plants, tokens and the change log.

import type { Database } from 'bun:sqlite'
import type { ChangeLog } from '../../../change-log/change-log'
import type { Store } from '../../../store'
import { type ChangeLogReader, prepareChangeLogReader } from './change-log'
import { createLongReads } from './long-reads'
import { countPlants, type PlantReader, preparePlants } from './plants'
import type { SnapshotReads } from './snapshot-reads'
import { listTags } from './tags'
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

/** Reads that take long, each as of one moment. */
export type Snapshots = Pick<SnapshotReads, 'read'>

/** A database that can be read: by a connection that may be replaced, or at one moment for long. */
type Readable = {
  read<T>(act: (reader: Reader) => T): Promise<T>
  readonly snapshots: Snapshots
}

/** Returns the reads; `readEnd` reads the change log at once, for a poll. Lists and pages take turns. */
export function createReads({ read, snapshots }: Readable) {
  const inTurn = createLongReads()
  const readEnd: ChangeLog['read'] = (options) => read(({ changeLog }) => changeLog.read(options))
  const changeLog: Omit<ChangeLog, 'watch'> = {
    read: (options) => inTurn(() => readEnd(options), options.signal),
    history: (id, options) =>
      inTurn(() => read(({ changeLog }) => changeLog.history(id, options)), options.signal),
    stats: () => read(({ changeLog }) => changeLog.stats()),
  }
  const reads: Pick<
    Store,
    'readPlant' | 'listPlants' | 'listTags' | 'countPlants' | 'findToken' | 'listTokens'
  > = {
    readPlant: (id) => read(({ plants }) => plants.read(id)),
    listPlants: (query, signal) => inTurn(() => read(({ plants }) => plants.list(query)), signal),
    listTags: (query, signal) => snapshots.read((db) => listTags(db, query), inTurn, signal),
    countPlants: () => read(({ db }) => countPlants(db)),
    findToken: (hash) => read(({ tokens }) => tokens.find(hash)),
    listTokens: () => read(({ tokens }) => tokens.list()),
  }
  return { readEnd, changeLog, reads }
}
