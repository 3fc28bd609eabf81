// A store in PostgreSQL: each batch of group commit is a step of a lane; reads have separate connections. For a
// read-only store, see replica.ts.

import type { ChangeLog } from '../../change-log/change-log'
import { IN_DOUBT, OpenError } from '../../errors'
import type { Store } from '../../store'
import { createWrites } from '../commit/plant-writes'
import type { StoreUser } from '../store-user'
import { readAlterations } from './alterations'
import { Batches } from './batches'
import { Primary } from './connection/primary'
import { ServerState } from './connection/state'
import type { PostgresTarget } from './connection/url'
import { Lane } from './lane/lane'
import { Writer } from './lane/writer'
import { createPreparation } from './preparation'
import { createReads } from './reads'
import { openReplica } from './replica'
import { beginRetention } from './retention'
import { createStep, probeStep } from './sql/apply-writes'
import { createTokens } from './tokens'
import { watchServer } from './watch'

/** Opens the database of a server. Rejects with an `OpenError` if that fails. */
export async function openPostgres(target: PostgresTarget, storeUser: StoreUser): Promise<Store> {
  if (storeUser.refusal) return openReplica(target, storeUser, storeUser.refusal)
  const state = new ServerState(storeUser)
  const lane = new Lane(storeUser, state)
  const preparation = createPreparation(target, storeUser, lane, state)
  const primary = new Primary(target, storeUser, state, preparation, () => writer.resume())
  const writer = new Writer(primary, lane, storeUser)
  const { askForPages, changeLogReader, reads } = createReads(primary)
  const { forget, ...tokens } = createTokens(primary.reader('tokens'), (step) =>
    writer.run(step).catch((error) => {
      throw state.refusalOf(error)
    }),
  )
  const batches = new Batches(writer, state, storeUser)
  const { writes, watch, methods } = createWrites(
    (batch) => batches.commit(batch),
    changeLogReader.read,
    forget,
  )
  const changeLog: ChangeLog = { ...changeLogReader, watch, lastCursor: () => lane.lastCursor }
  const server = watchServer(
    primary,
    state,
    async ({ ask }) => state.setAlterations(await ask(readAlterations)),
    (isProbe) => writer.run(isProbe ? probeStep : createStep([])),
  )

  await primary.open()
  const timers = storeUser.outlivesOutages
    ? [server.begin(), beginRetention(primary, storeUser.log, changeLogReader.range, askForPages)]
    : []

  return {
    ...methods,
    ...tokens,
    get changeLog() {
      return lane.hasChangeLog ? changeLog : undefined
    },
    ...reads,
    async probe() {
      await server.probe()
      return 'ok'
    },
    stats: () => ({
      problem: state.problem(),
      queuedWrites: writes.queueLength,
      databaseBytes: null,
      walBytes: null,
      freeBytes: null,
      server: { reconnects: primary.reconnects, lostCommits: lane.lostCommits },
    }),
    async close() {
      for (const end of timers) end()
      // During an outage the queue may never drain.
      if (!primary.isLost) await writes.whenIdle()
      const reason = writer.isBusy() ? state.outage : null
      // If that fails, another process removes the row later.
      const leaving = primary.ready(0).then((connections) => lane.leave(connections.writer))
      await leaving.catch(() => {})
      await primary.close()
      if (reason) throw new OpenError(`${reason.message}; ${IN_DOUBT}`, true)
    },
  }
}
