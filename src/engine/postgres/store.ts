// Keeps plants in PostgreSQL: changes by group commit, one step of a lane for each batch; reads by other connections.

import { OpenError, PlantError } from '../../errors'
import { IN_DOUBT } from '../../shutdown'
import type { Store } from '../../store'
import type { Change } from '../change'
import { GroupCommit } from '../group-commit'
import { createUseRecorder } from '../last-use'
import { CHANGE_BYTES, LIMITS, plantChanges } from '../plant-changes'
import type { Role } from '../role'
import { createBatches } from './batches'
import { createCounters } from './counters'
import { LONGEST_PIPELINE } from './lane'
import { createLeases, LEASE_MS } from './leases'
import { migrate, refuseNewer, SCHEMA_VERSION, schemaVersion } from './migrations'
import { listPlants, shareReads } from './plants'
import { Sessions } from './sessions'
import { limitWaits } from './settings'
import { createTokenStep, findToken, listTokens, pruneTokensStep, revokeTokenStep } from './tokens'
import type { PostgresTarget } from './url'
import { Writer } from './writer'

// Anybody may ask for a probe: a commit within the last second will do.
const PROBE_EVERY_MS = 1000
const PROBE_PATIENCE_MS = 1000
// A server that keeps a commit waiting for so long counts as one that cannot confirm.
const STALLED_MS = 3000
// A round trip of a server that is far.
const FAR_MS = 2
// While a server that is near commits as quickly as this, the next batch is sent before the last is answered. If its disk is
// slower, one larger batch is better (`bun run postgres`).
const QUICK_MS = 1
const QUICK_CHANGE_MS = 0.02
// What a server that hangs may take of a start: a migration waits for those of other processes, and for the standby.
const SETTING_MS = 5000
const MIGRATION_MS = 15_000
// A lane that is not used for days is removed by others.
const TOUCH_EVERY_MS = 3_600_000

/** Opens the database of a server. Rejects with an `OpenError` where that cannot be. */
export async function openPostgres(target: PostgresTarget, role: Role): Promise<Store> {
  const counters = createCounters()
  let isMigrated = false
  const sessions: Sessions = new Sessions(target, role, counters, {
    async prepare(connection) {
      if (!isMigrated) {
        const before = role.makesDatabase
          ? await connection.within(MIGRATION_MS, migrate(connection.sql))
          : await connection.within(SETTING_MS, schemaVersion(connection.sql))
        refuseNewer(before)
        if (before === 0 && !role.makesDatabase) {
          throw new OpenError(
            `no plantstore in ${target.redacted}; "plantstore serve" makes one there`,
          )
        }
        if (before > 0 && before < SCHEMA_VERSION) {
          if (!role.makesDatabase) await connection.within(MIGRATION_MS, migrate(connection.sql))
          role.log('info', 'migrated', { from: before, to: SCHEMA_VERSION })
        }
        isMigrated = true
      }
      if (target.prepare) await connection.within(SETTING_MS, limitWaits(connection.sql))
      await writer.enter(connection)
    },
    begun: () => writer.resume(),
  })
  const commits = (changes: number, milliseconds: number): number => {
    if (sessions.roundTrip() >= FAR_MS) return LONGEST_PIPELINE
    return milliseconds < QUICK_MS + changes * QUICK_CHANGE_MS ? 2 : 1
  }
  const writer: Writer = new Writer(sessions, role, counters)
  const batches = createBatches(writer, sessions, role)
  const changes = new GroupCommit<Change>(batches.commit, { ...LIMITS, commits })
  const points = <T>(ask: Parameters<typeof sessions.read<T>>[1]) => sessions.read('points', ask)
  const readPlant = shareReads(points)
  const leases = createLeases(
    (hash) => points(({ sql }) => findToken(sql, hash)),
    () => performance.now(),
  )
  const recordUse = createUseRecorder((hash, hour) =>
    changes.submit(['use', hash, hour], CHANGE_BYTES).then(() => leases.forget(hash)),
  )
  const run: Writer['run'] = (step) =>
    writer.run(step).catch((error) => {
      throw sessions.refuse(error)
    })
  let probing: Promise<unknown> | undefined

  async function touch(): Promise<void> {
    await changes.submit(['probe'], CHANGE_BYTES)
  }

  async function probe(): Promise<void> {
    let refusal: unknown
    if (writer.sinceConfirmed() >= PROBE_EVERY_MS && writer.stalledFor() === 0) {
      probing ??= touch().finally(() => {
        probing = undefined
      })
      // One that is not waited for to its end must not be an unhandled rejection.
      probing.catch(() => {})
      await Promise.race([probing, Bun.sleep(PROBE_PATIENCE_MS)]).catch((error) => {
        refusal = error
      })
    }
    const problem = sessions.problem()
    if (problem) throw problem
    if (batches.isFull()) throw new PlantError(50701)
    // A queue that is full is no fault of the server.
    if (refusal && !(refusal instanceof PlantError && refusal.error === 50301)) throw refusal
    const seconds = Math.floor(writer.stalledFor() / 1000)
    if (seconds * 1000 >= STALLED_MS) {
      throw new PlantError(50302, `the database server has confirmed no write for ${seconds} s`)
    }
  }

  await sessions.open()
  const touching = role.outlivesOutages
    ? setInterval(() => touch().catch(() => {}), TOUCH_EVERY_MS)
    : undefined

  return {
    ...plantChanges(changes),
    readPlant,
    listPlants: (query) => sessions.read('pages', ({ sql }) => listPlants(sql, query)),
    findToken: leases.find,
    async createToken(token) {
      const isAdded = await run(createTokenStep(token))
      leases.forgetAll()
      return isAdded
    },
    listTokens: () => points(({ sql }) => listTokens(sql)),
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
      isWritable: sessions.problem() === null,
      queued: changes.queued,
      databaseBytes: null,
      walBytes: null,
      server: { ...counters },
    }),
    async close() {
      clearInterval(touching)
      // In an outage there may be no end to wait for.
      if (!sessions.problem()) await changes.drained()
      const problem = writer.isBusy() ? sessions.problem() : null
      await writer.leave().catch(() => {})
      await sessions.close()
      if (problem) throw new OpenError(`${problem.message}; ${IN_DOUBT}`, true)
    },
  }
}
