// A database opened for reading only.

import type { ChangeLog } from '../../../change-log/change-log'
import { createChangeLogWatch } from '../../../change-log/watch'
import type { ReadOnlyStore } from '../../../store'
import { prepareChangeLogReader } from '../reading/change-log'
import { readWhenChanged } from '../reading/latest-page'
import { prepareTokenReader } from '../reading/tokens'
import { readDatabase } from './read'

/** Opens a database, at each read anew: as of that moment. A read rejects with an `OpenError` if that fails. */
export function openReadOnly(path: string): ReadOnlyStore {
  const read: ChangeLog['read'] = (options) =>
    readDatabase(path, 'repeatable', (db) => prepareChangeLogReader(db).read(options))
  return {
    listTokens: () => readDatabase(path, 'repeatable', (db) => prepareTokenReader(db).list()),
    changeLog: { read, watch: createChangeLogWatch(readWhenChanged(path, read)).watch },
    close: async () => {},
  }
}
