// Prepares each new connection that writes: the first one opens the schema and the change log, and each enters the
// lane.

import { OpenError } from '../../errors'
import type { StoreUser } from '../store-user'
import { readAlterations } from './alterations'
import type { Connection } from './connection/connection'
import { isInDoubt } from './connection/errors'
import { chooseHost } from './connection/hosts'
import type { ConnectionPolicy } from './connection/readers'
import { limitWrites } from './connection/settings'
import type { ServerState } from './connection/state'
import type { PostgresTarget } from './connection/url'
import { keepChanges } from './lane/change-log-row'
import type { Lane } from './lane/lane'
import { createSchema, hasSchema, isCurrent } from './schema'
import { writeStatements } from './sql/apply-writes'
import { requireSchema } from './sql/snapshot'
import { sendEach } from './watch'

// Deadlines of a start. A step may wait for other processes and for the standby.
const SETTING_MS = 5000
const STEP_MS = 15_000

/**
 * Has the session prepare the statements of a commit: at a far server, all in the first commit would take too long.
 * Refusals are left to the watch.
 */
async function warmUp(writer: Connection): Promise<void> {
  try {
    await sendEach(writer, writeStatements(writer.sql))
  } catch (error) {
    if (isInDoubt(error)) throw error
  }
}

export class Preparation implements ConnectionPolicy {
  readonly choose = chooseHost
  #isOpened = false
  /** The last connection that was warmed up. */
  #warmConnection: Connection | null = null

  constructor(
    private readonly target: PostgresTarget,
    private readonly storeUser: StoreUser,
    private readonly lane: Lane,
    private readonly state: ServerState,
  ) {}

  async prepare(connection: Connection): Promise<void> {
    await this.#open(connection)
    if (this.target.prepare) await connection.within(SETTING_MS, limitWrites(connection.sql))
    if (
      this.#warmConnection !== connection &&
      this.storeUser.outlivesOutages &&
      this.target.prepare
    ) {
      await warmUp(connection)
    }
    this.#warmConnection = connection
    const hadChangeLog = this.lane.hasChangeLog
    // If another process begins or ends the change log later, the next step finds its lane changed, and prepares anew.
    await this.lane.enter(connection)
    if (hadChangeLog && !this.lane.hasChangeLog) this.storeUser.log('warn', 'changes-ended')
  }

  hasAll = (connection: Connection): Promise<boolean> => this.lane.hasAll(connection)

  async #open(connection: Connection): Promise<void> {
    if (this.#isOpened) {
      // A newer plantstore may have changed the schema.
      await connection.within(SETTING_MS, hasSchema(connection.sql))
      return
    }
    await this.#openSchema(connection)
    const alterations = await connection.within(SETTING_MS, readAlterations(connection.sql))
    this.state.setAlterations(alterations)
    if (alterations.length > 0) throw new OpenError(alterations.join('; '))
    const keeping = keepChanges(connection.sql, this.storeUser.keepChanges)
    const entries = await connection.within(STEP_MS, keeping)
    if (entries !== null) this.storeUser.log('warn', 'changes-ended', { entries })
    this.#isOpened = true
  }

  async #openSchema({ sql, within }: Connection): Promise<void> {
    if (!this.storeUser.makesDatabase)
      return requireSchema((query) => within(SETTING_MS, query(sql)), this.target)
    if (!(await within(SETTING_MS, isCurrent(sql)))) await within(STEP_MS, createSchema(sql))
  }
}
