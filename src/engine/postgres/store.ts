// Keeps plants in PostgreSQL: each batch of group commit is a step of a lane; reads have connections of their own.

import { removeOldEntries } from '../../change-log/retention'
import { IN_DOUBT, OpenError } from '../../errors'
import type { Store } from '../../store'
import { createWrites, WRITE_BYTES } from '../commit/plant-writes'
import { watchHealth } from '../health'
import type { StoreUser } from '../store-user'
import { createBatches } from './batches'
import type { Connection } from './connecting/connection'
import { Primary } from './connecting/primary'
import { limitWaiting } from './connecting/readers'
import { Refusals } from './connecting/refusals'
import { limitWrites } from './connecting/settings'
import type { PostgresTarget } from './connecting/url'
import { isChangeLogKept, keepChanges } from './lane/change-log-row'
import { Lane, type Step } from './lane/lane'
import { Writer } from './lane/writer'
import { createLeases, LEASE_MS } from './leases'
import { createRehearsal } from './rehearsal'
import { migrate, SCHEMA_VERSION, schemaVersion } from './schema/migrations'
import { trialStep } from './sql/apply-writes'
import { createChangeLogReader, removeEntries } from './sql/change-log'
import { countPlants, listPlants, shareReads } from './sql/plants'
import {
  createTokenStep,
  findToken,
  listTokens,
  pruneTokensStep,
  revokeTokenStep,
} from './sql/tokens'

// A server that confirms nothing for this long is unhealthy.
const STALLED_MS = 3000
// Interval of the rehearsals, and the maximum wait of a probe for one.
const REHEARSED_EVERY_MS = 2000
const REHEARSAL_PATIENCE_MS = 1000
// Deadlines during the start. A step may wait for other processes and for the standby; a migration also counts the
// plants.
const SETTING_MS = 5000
const STEP_MS = 15_000
const MIGRATION_MS = 600_000
// Other processes remove a lane unused for 30 days.
const TOUCH_EVERY_MS = 3_600_000
// A kind of statement, besides those of plants: see refusals.ts.
const TOKEN_CHANGE = 'token change'

/**
 * Creates or migrates the schema. Rejects with an `OpenError` if it is newer, or if it is missing and this process may
 * not create it.
 */
async function openSchema(it: Connection, target: PostgresTarget, role: StoreUser): Promise<void> {
  const before = await it.within(SETTING_MS, schemaVersion(it.sql))
  if (before === 0 && !role.makesDatabase) {
    throw new OpenError(`no plantstore in ${target.redacted}; create it with "plantstore serve"`)
  }
  if (before === SCHEMA_VERSION) return
  const from = await it.within(before > 0 ? MIGRATION_MS : STEP_MS, migrate(it.sql))
  if (from > 0 && from < SCHEMA_VERSION) role.log('info', 'migrated', { from, to: SCHEMA_VERSION })
}

/** Opens the database of a server. Rejects with an `OpenError` if that fails. */
export async function openPostgres(target: PostgresTarget, role: StoreUser): Promise<Store> {
  const lane = new Lane(role)
  const refusals = new Refusals(role)
  let isOpened = false
  let hasChangeLog = false
  async function prepare(connection: Connection): Promise<void> {
    if (isOpened) {
      // Another process may have migrated the schema to a newer version.
      await connection.within(SETTING_MS, schemaVersion(connection.sql))
    } else {
      await openSchema(connection, target, role)
      const keeping = keepChanges(connection.sql, role.keepChanges)
      const entries = await connection.within(STEP_MS, keeping)
      if (entries !== null) role.log('warn', 'changes-ended', { entries })
    }
    isOpened = true
    if (target.prepare) await connection.within(SETTING_MS, limitWrites(connection.sql))
    await lane.enter(connection)
    const hadChangeLog = hasChangeLog
    // Last: if another process begins or ends the change log later, the next step finds its lane changed, and prepares
    // again.
    hasChangeLog = await connection.within(SETTING_MS, isChangeLogKept(connection.sql))
    // Another process ended the change log.
    if (hadChangeLog && !hasChangeLog) role.log('warn', 'changes-ended')
  }
  const primary = new Primary(
    target,
    role,
    refusals,
    prepare,
    (it) => lane.prove(it),
    () => writer.resume(),
  )
  const writer = new Writer(primary, lane, role)
  const askForPages = limitWaiting(primary.reader('pages'))
  const askForTokens = primary.reader('tokens')
  const changeLogReader = createChangeLogReader(askForPages)
  const leases = createLeases(
    (hash) => askForTokens((sql) => findToken(sql, hash)),
    () => performance.now(),
  )
  const { writes, watch, methods } = createWrites(
    createBatches(writer, refusals, role),
    changeLogReader.read,
    leases.forget,
  )
  const changeLog = { ...changeLogReader, watch }
  /** Commits a step that changes tokens, and resolves to their number. The next look-up sees it. */
  async function changeTokens(step: Step<number>): Promise<number> {
    const result = await writer.run(step).catch((error) => {
      throw refusals.refuse(error, [TOKEN_CHANGE])
    })
    refusals.committed([TOKEN_CHANGE])
    leases.forgetAll()
    return result
  }

  const touch = () => writes.submit({ kind: 'probe' }, WRITE_BYTES)
  const rehearse = createRehearsal(primary, refusals)
  let isTrying = false
  async function tryChanges(): Promise<void> {
    if (isTrying || !refusals.hasRefusedChanges()) return
    isTrying = true
    await writer.run(trialStep()).then(
      () => refusals.tried(null),
      (error) => refusals.tried(error),
    )
    isTrying = false
  }
  const health = watchHealth({
    confirmations: lane.confirmations,
    storage: 'the database server',
    stalledMs: STALLED_MS,
    problem: () => primary.problem() ?? refusals.problem(),
    write: touch,
  })

  await primary.open()
  const timers = role.outlivesOutages
    ? [
        setInterval(() => touch().catch(() => {}), TOUCH_EVERY_MS),
        setInterval(rehearse, REHEARSED_EVERY_MS),
        setInterval(tryChanges, REHEARSED_EVERY_MS),
      ]
    : []
  const removeExpired = async () => hasChangeLog && (await askForPages(removeEntries))
  const endRetention = role.outlivesOutages ? removeOldEntries(removeExpired) : undefined

  return {
    ...methods,
    get changeLog() {
      return hasChangeLog ? changeLog : undefined
    },
    readPlant: shareReads(primary.reader('points')),
    listPlants: (query) => askForPages((sql) => listPlants(sql, query)),
    countPlants: () => askForPages(countPlants),
    findToken: leases.find,
    createToken: async (token) => (await changeTokens(createTokenStep(token))) > 0,
    listTokens: () => askForTokens(listTokens),
    async revokeToken(name, now) {
      const count = await changeTokens(revokeTokenStep(name, now))
      if (count > 0) await Bun.sleep(LEASE_MS)
      return count > 0
    },
    pruneTokens: (by) => changeTokens(pruneTokensStep(by)),
    async probe() {
      await Promise.race([rehearse(), Bun.sleep(REHEARSAL_PATIENCE_MS)])
      await health.probe()
    },
    stats: () => ({
      isWritable: health.problem() === null,
      queued: writes.queued,
      databaseBytes: null,
      walBytes: null,
      freeBytes: null,
      server: { ...primary.counts, ...lane.counts, ...writer.counts },
    }),
    async close() {
      for (const timer of timers) clearInterval(timer)
      endRetention?.()
      // During an outage the queue may never drain.
      if (!primary.problem()) await writes.drained()
      const reason = writer.isBusy() ? primary.problem() : null
      // If this fails, another process removes the row later.
      if (!primary.problem()) {
        const left = primary.ready(0).then((it) => lane.leave(it.writer))
        await left.catch(() => {})
      }
      await primary.close()
      if (reason) throw new OpenError(`${reason.message}; ${IN_DOUBT}`, true)
    },
  }
}
