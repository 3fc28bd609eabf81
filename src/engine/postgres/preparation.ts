// Prepares each new connection that writes: the first one opens the schema and the change log, and each enters the
// lane.

import type { StoreUser } from '../store-user'
import type { AlteredTables } from './altered-tables'
import type { Connection } from './connecting/connection'
import { isInDoubt } from './connecting/errors'
import { chooseHost } from './connecting/hosts'
import type { ConnectionPolicy } from './connecting/readers'
import { limitWrites } from './connecting/settings'
import type { PostgresTarget } from './connecting/url'
import { keepChanges } from './lane/change-log-row'
import type { Lane } from './lane/lane'
import { sendEach, statementsOf } from './rehearsal'
import { migrate, SCHEMA_VERSION, schemaVersion } from './schema/migrations'
import { missingStore } from './sql/snapshot'

// Deadlines of a start. A step may wait for other processes and for the standby; a migration also counts the plants.
const SETTING_MS = 5000
const STEP_MS = 15_000
const MIGRATION_MS = 600_000

/**
 * Creates or migrates the schema. Rejects with an `OpenError` if there is none and this process may not create one, or
 * if the schema is newer.
 */
async function openSchema(
  connection: Connection,
  target: PostgresTarget,
  storeUser: StoreUser,
): Promise<void> {
  const version = await connection.within(SETTING_MS, schemaVersion(connection.sql))
  if (version === 0 && !storeUser.makesDatabase) {
    throw await missingStore(
      (query) => connection.within(SETTING_MS, query(connection.sql)),
      target,
    )
  }
  if (version === SCHEMA_VERSION) return
  const from = await connection.within(
    version > 0 ? MIGRATION_MS : STEP_MS,
    migrate(connection.sql),
  )
  if (from > 0 && from < SCHEMA_VERSION)
    storeUser.log('info', 'migrated', { from, to: SCHEMA_VERSION })
}

/**
 * Has the session prepare the statements of a commit: at a far server, all in the first commit would take too long.
 * Refusals are left to the rehearsal.
 */
async function warmUp(writer: Connection): Promise<void> {
  try {
    await sendEach(writer, statementsOf(writer.sql).points)
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
    private readonly alteredTables: AlteredTables,
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
      // Another process may have migrated the schema beyond what this one knows.
      await connection.within(SETTING_MS, schemaVersion(connection.sql))
      return
    }
    await openSchema(connection, this.target, this.storeUser)
    await this.alteredTables.open(connection)
    const keeping = keepChanges(connection.sql, this.storeUser.keepChanges)
    const entries = await connection.within(STEP_MS, keeping)
    if (entries !== null) this.storeUser.log('warn', 'changes-ended', { entries })
    this.#isOpened = true
  }
}
