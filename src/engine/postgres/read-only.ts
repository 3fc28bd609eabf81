// A server's database opened for reading only, by one connection at a time.

import { createChangeLogWatch } from '../../change-log/watch'
import type { Log } from '../../log'
import type { ReadOnlyStore } from '../../store'
import { storeGuest } from '../store-user'
import type { Connection } from './connection/connection'
import { chooseForCommand } from './connection/hosts'
import { Primary } from './connection/primary'
import { ServerState } from './connection/state'
import type { PostgresTarget } from './connection/url'
import { createChangeLogReader } from './sql/change-log'
import { requireSchema } from './sql/snapshot'
import { listTokens } from './sql/tokens'

const SETTING_MS = 5000

/** Opens a database. Rejects with an `OpenError` if there is no plantstore, or a newer one made it. */
export async function openReadOnly(target: PostgresTarget, log: Log): Promise<ReadOnlyStore> {
  const user = storeGuest({ makesDatabase: false, log })
  const policy = {
    choose: chooseForCommand,
    prepare: ({ sql, within }: Connection) =>
      requireSchema((query) => within(SETTING_MS, query(sql)), target),
    hasAll: async () => true,
  }
  const primary = new Primary(target, user, new ServerState(log), policy, () => {})
  await primary.open()
  const ask = primary.reader('pages')
  const { read } = createChangeLogReader(ask)
  return {
    listTokens: () => ask(listTokens),
    changeLog: { read, watch: createChangeLogWatch(read).watch },
    close: () => primary.close(),
  }
}
