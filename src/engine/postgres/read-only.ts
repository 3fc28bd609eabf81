// A server's database opened for reading only, by one connection at a time.

import { createChangeLogWatch } from '../../change-log/watch'
import type { Log } from '../../log'
import type { ReadOnlyStore } from '../../store'
import { storeGuest } from '../store-user'
import type { Connection } from './connecting/connection'
import { chooseForCommand } from './connecting/hosts'
import { Primary } from './connecting/primary'
import { createServerState } from './connecting/refusals'
import type { PostgresTarget } from './connecting/url'
import { createChangeLogReader } from './sql/change-log'
import { requireSchema } from './sql/snapshot'
import { listTokens } from './sql/tokens'

const SETTING_MS = 5000

/** Opens a database. Rejects with an `OpenError` if there is no plantstore, or a newer one made it. */
export async function openReadOnly(target: PostgresTarget, log: Log): Promise<ReadOnlyStore> {
  const user = storeGuest({ makesDatabase: false, log })
  let version = 0
  const policy = {
    choose: chooseForCommand,
    async prepare({ sql, within }: Connection) {
      version = await requireSchema((query) => within(SETTING_MS, query(sql)), target)
    },
    hasAll: async () => true,
  }
  const primary = new Primary(target, user, createServerState(user), policy, () => {})
  await primary.open()
  const ask = primary.reader('pages')
  const { read } = createChangeLogReader(ask, () => version)
  return {
    listTokens: () => ask(listTokens),
    changeLog: { read, watch: createChangeLogWatch(read).watch },
    close: () => primary.close(),
  }
}
