// Keeps plants in PostgreSQL: each batch of group commit is a step of a lane; reads have connections of their own.

import { IN_DOUBT, OpenError, PlantError } from '../../errors'
import type { Store } from '../../store'
import type { Change } from '../change'
import { GroupCommit } from '../group-commit'
import { createUseRecorder } from '../last-use'
import { removeOldEntries } from '../log-retention'
import { createLogWatch } from '../log-watch'
import { CHANGE_BYTES, LIMITS, plantChanges } from '../plant-changes'
import type { Role } from '../role'
import { createBatches } from './batches'
import { createLogReader, removeEntries } from './change-log'
import type { Connection } from './connection'
import { createCounters } from './counters'
import { Lane } from './lane'
import { createLeases, LEASE_MS } from './leases'
import { isLogKept, keepChanges } from './log-row'
import { migrate, refuseNewer, SCHEMA_VERSION, schemaVersion } from './migrations'
import { listPlants, shareReads } from './plants'
import { Primary } from './primary'
import { Refusals } from './refusals'
import { createRehearsal } from './rehearsal'
import { countPlants } from './rows'
import { limitWrites } from './settings'
import { createTokenStep, findToken, listTokens, pruneTokensStep, revokeTokenStep } from './tokens'
import type { PostgresTarget } from './url'
import { Writer } from './writer'

// `/health` is public: a commit within the last second is enough.
const PROBE_EVERY_MS = 1000
const PROBE_PATIENCE_MS = 1000
// A server that has kept a commit waiting for so long is unhealthy.
const STALLED_MS = 3000
// How often privileges, tables, columns and reading connections are checked.
const REHEARSED_EVERY_MS = 5000
// Deadlines of a start. A step waits for other processes, and for the standby; a migration also counts the plants.
const SETTING_MS = 5000
const STEP_MS = 15_000
const MIGRATION_MS = 600_000
// Other processes remove a lane that was not used for days.
const TOUCH_EVERY_MS = 3_600_000

/** Migrates the schema if the role may. Throws an `OpenError` if there is none, or a newer one. */
async function openSchema(it: Connection, target: PostgresTarget, role: Role): Promise<void> {
  const before = await it.within(SETTING_MS, schemaVersion(it.sql))
  refuseNewer(before)
  if (before === 0 && !role.makesDatabase) {
    throw new OpenError(`no plantstore in ${target.redacted}; "plantstore serve" makes one there`)
  }
  if (before === SCHEMA_VERSION) return
  const from = await it.within(before > 0 ? MIGRATION_MS : STEP_MS, migrate(it.sql))
  if (from > 0 && from < SCHEMA_VERSION) role.log('info', 'migrated', { from, to: SCHEMA_VERSION })
}

/** Opens the database of a server. Rejects with an `OpenError` if that fails. */
export async function openPostgres(target: PostgresTarget, role: Role): Promise<Store> {
  const counters = createCounters()
  const lane = new Lane(role, counters, SCHEMA_VERSION)
  const refusals = new Refusals(role)
  let isOpened = false
  let isLogged = false
  async function prepare(connection: Connection): Promise<void> {
    if (isOpened) {
      refuseNewer(await connection.within(SETTING_MS, schemaVersion(connection.sql)))
    } else {
      await openSchema(connection, target, role)
      const keeping = keepChanges(connection.sql, role.keepChanges)
      if (await connection.within(STEP_MS, keeping)) role.log('warn', 'changes-ended')
    }
    isOpened = true
    isLogged = await connection.within(SETTING_MS, isLogKept(connection.sql))
    if (target.prepare) await connection.within(SETTING_MS, limitWrites(connection.sql))
    await lane.enter(connection)
  }
  const primary = new Primary(target, role, counters, refusals, prepare, (it) => lane.prove(it))
  const writer = new Writer(primary, lane, role, counters)
  const commit = createBatches(writer, refusals, role)
  const changes = new GroupCommit<Change>(async (batch) => {
    const committed = await commit(batch)
    wake()
    return committed
  }, LIMITS)
  const logReader = createLogReader((ask) => primary.read('pages', ask))
  const { wake, watch } = createLogWatch(logReader.read)
  const log = { ...logReader, watch }
  const readPlant = shareReads((ask) => primary.read('points', ask))
  const leases = createLeases(
    (hash) => primary.read('tokens', (sql) => findToken(sql, hash)),
    () => performance.now(),
  )
  const recordUse = createUseRecorder((hash, hour) =>
    changes.submit(['use', hash, hour], CHANGE_BYTES).then(() => leases.forget(hash)),
  )
  const run: Writer['run'] = (step) =>
    writer.run(step).catch((error) => {
      throw refusals.refuse(error)
    })

  /** Why the server cannot write, or confirms nothing for now; null if it can. */
  function problem(): PlantError | null {
    const known = primary.problem() ?? refusals.problem()
    const seconds = Math.floor(lane.stalledFor() / 1000)
    if (known || seconds * 1000 < STALLED_MS) return known
    return new PlantError(50302, `the database server has confirmed no write for ${seconds} s`)
  }

  const rehearse = createRehearsal(primary, refusals)
  let probing: Promise<unknown> | undefined

  async function touch(): Promise<void> {
    await changes.submit(['probe'], CHANGE_BYTES)
  }

  async function probe(): Promise<void> {
    let refusal: unknown
    rehearse()
    if (lane.sinceConfirmed() >= PROBE_EVERY_MS && lane.stalledFor() === 0) {
      probing ??= touch().finally(() => {
        probing = undefined
      })
      // A probe that nobody waits for any more must not be an unhandled rejection.
      probing.catch(() => {})
      await Promise.race([probing, Bun.sleep(PROBE_PATIENCE_MS)]).catch((error) => {
        refusal = error
      })
    }
    const reason = problem()
    if (reason) throw reason
    // A full queue is not the server's fault.
    if (refusal && !(refusal instanceof PlantError && refusal.error === 50301)) throw refusal
  }

  await primary.open()
  const timers = role.outlivesOutages
    ? [
        setInterval(() => touch().catch(() => {}), TOUCH_EVERY_MS),
        setInterval(rehearse, REHEARSED_EVERY_MS),
      ]
    : []
  const forget = async () => isLogged && (await primary.read('pages', removeEntries))
  const endRetention = role.outlivesOutages ? removeOldEntries(forget) : undefined

  return {
    ...plantChanges(changes),
    get changes() {
      return isLogged ? log : undefined
    },
    readPlant,
    listPlants: (query) => primary.read('pages', (sql) => listPlants(sql, query)),
    countPlants: () => primary.read('pages', countPlants),
    findToken: leases.find,
    async createToken(token) {
      const isAdded = await run(createTokenStep(token))
      leases.forgetAll()
      return isAdded
    },
    listTokens: () => primary.read('tokens', listTokens),
    async revokeToken(name, now) {
      const count = await run(revokeTokenStep(name, now))
      leases.forgetAll()
      if (count > 0) await Bun.sleep(LEASE_MS)
      return count > 0
    },
    async pruneTokens(by) {
      const count = await run(pruneTokensStep(by))
      leases.forgetAll()
      return count
    },
    recordUse,
    probe,
    stats: () => ({
      isWritable: problem() === null,
      queued: changes.queued,
      databaseBytes: null,
      walBytes: null,
      freeBytes: null,
      server: { ...counters },
    }),
    async close() {
      for (const timer of timers) clearInterval(timer)
      endRetention?.()
      // In an outage there may be no end to wait for.
      if (!primary.problem()) await changes.drained()
      const reason = writer.isBusy() ? primary.problem() : null
      if (!primary.problem()) {
        // A row that stays is removed by other processes.
        await primary
          .ready(0)
          .then(
            (it) => lane.leave(it.writer),
            () => {},
          )
          .catch(() => {})
      }
      await primary.close()
      if (reason) throw new OpenError(`${reason.message}; ${IN_DOUBT}`, true)
    },
  }
}
