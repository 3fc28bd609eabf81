// Prepares each new connection that writes: the first one opens the schema and the change log, and each enters the
// lane.

import { OpenError } from '../../errors'
import type { StoreUser } from '../store-user'
import { readAlterations } from './alterations'
import type { Connection } from './connection/connection'
import { chooseHost } from './connection/hosts'
import type { ConnectionPolicy } from './connection/readers'
import type { ServerState } from './connection/state'
import { refusalsOf } from './connection/statements'
import type { PostgresTarget } from './connection/url'
import { keepChanges } from './lane/change-log-row'
import type { Lane } from './lane/lane'
import { createSchema, requireSchema } from './schema'
import { writeStatements } from './sql/apply-writes'

// Deadline of a step of a start, which may wait for other processes and for the standby.
const STEP_MS = 15_000

/** Lets connections of a store write, of which the first creates the tables. */
export function createPreparation(
  target: PostgresTarget,
  storeUser: StoreUser,
  lane: Lane,
  state: ServerState,
): ConnectionPolicy {
  const { log, makesDatabase, outlivesOutages } = storeUser
  let isOpened = false

  async function open({ ask }: Connection): Promise<void> {
    const alterations = await ask(readAlterations)
    state.setAlterations(alterations)
    if (alterations.length > 0) throw new OpenError(alterations.join('; '))
    const entries = await ask((sql) => keepChanges(sql, storeUser.keepChanges), STEP_MS)
    if (entries !== null) log('warn', 'changes-ended', { entries })
    isOpened = true
  }

  return {
    choose: chooseHost,
    hasAll: (connection) => lane.hasAll(connection),
    async prepare(connection) {
      const { ask, sql } = connection
      if (!isOpened && makesDatabase) await ask(createSchema, STEP_MS)
      // A newer plantstore may have changed the schema.
      await requireSchema(ask, target)
      if (!isOpened) await open(connection)
      // The session prepares them: at a far server, all in the first commit would take too long. Refusals are left to the
      // watch.
      if (outlivesOutages && target.prepare) await refusalsOf(connection, writeStatements(sql))
      const hadChangeLog = lane.hasChangeLog
      // If another process begins or ends the change log later, the next step finds its lane changed, and prepares anew.
      await lane.enter(connection)
      if (hadChangeLog && !lane.hasChangeLog) log('warn', 'changes-ended')
    },
  }
}
