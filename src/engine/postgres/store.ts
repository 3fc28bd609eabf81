// A store in PostgreSQL: each batch of group commit is a step of a lane; reads have separate connections. For a
// read-only store, see replica.ts.

import type { ChangeLog } from '../../change-log/change-log'
import { IN_DOUBT, OpenError, RequestError } from '../../errors'
import type { Store } from '../../store'
import { createWrites, WRITE_BYTES } from '../commit/plant-writes'
import type { StoreUser } from '../store-user'
import { readAlterations } from './alterations'
import { Batches } from './batches'
import { Primary } from './connection/primary'
import { type Connections, READER_SILENT_MS } from './connection/readers'
import { createRefuse, type Refuse, ServerState } from './connection/state'
import type { PostgresTarget } from './connection/url'
import { Lane, type Step } from './lane/lane'
import { Writer } from './lane/writer'
import { LockedRows } from './locked-rows'
import { Preparation } from './preparation'
import { createReads } from './reads'
import { openReplica } from './replica'
import { createRetention } from './retention'
import { trialStep, writeNothing } from './sql/apply-writes'
import { createTokens } from './tokens'
import { RECENT_MS, readNothing, sendEach, shareBriefly, watchServer } from './watch'

// Other processes remove a lane that was not used for 30 days.
const IDLE_MS = 3_600_000

/** Closes the connections. Rejects with an `OpenError` if commits are in doubt. */
async function closeConnections(
  primary: Primary,
  writer: Writer,
  lane: Lane,
  state: ServerState,
): Promise<void> {
  const reason = writer.isBusy() ? state.outage : null
  // If that fails, another process removes the row later.
  if (!primary.isLost) {
    const leaving = primary.ready(0).then((connections) => lane.leave(connections.writer))
    await leaving.catch(() => {})
  }
  await primary.close()
  if (reason) throw new OpenError(`${reason.message}; ${IN_DOUBT}`, true)
}

/** Commits the steps that change tokens. */
const changeTokens = (writer: Writer, refuse: Refuse) => (step: Step<number>) =>
  writer.run(step).catch((error) => {
    throw refuse(error)
  })

/** Opens the database of a server. Rejects with an `OpenError` if that fails. */
export const openPostgres = (target: PostgresTarget, storeUser: StoreUser): Promise<Store> =>
  storeUser.refusal
    ? openReplica(target, storeUser, storeUser.refusal)
    : openWritable(target, storeUser)

async function openWritable(target: PostgresTarget, storeUser: StoreUser): Promise<Store> {
  const state = new ServerState(storeUser.log)
  const refuse = createRefuse(state, storeUser)
  const lane = new Lane(storeUser, state)
  const preparation = new Preparation(target, storeUser, lane, state)
  const primary = new Primary(target, storeUser, state, preparation, () => writer.resume())
  const writer = new Writer(primary, lane, storeUser)
  const { askForPages, changeLogReader, reads } = createReads(primary)
  const { forget, ...tokens } = createTokens(primary.reader('tokens'), changeTokens(writer, refuse))
  const lockedRows = new LockedRows(storeUser.log)
  const batches = new Batches(writer, state, refuse, storeUser, lockedRows)
  const { writes, watch, methods } = createWrites(
    (batch) => batches.commit(batch),
    changeLogReader.read,
    forget,
  )
  const changeLog: ChangeLog = { ...changeLogReader, watch, lastCursor: () => lane.lastCursor }
  const write = () => writes.submit({ kind: 'probe' }, WRITE_BYTES)
  const hasConfirmed = (withinMs: number) => performance.now() < state.confirmedAt + withinMs
  const look = (connections: Connections) => {
    if (!hasConfirmed(IDLE_MS)) write().catch(() => {})
    const { points, pages } = connections
    return [
      ...readNothing(connections),
      sendEach(points, [writeNothing(points.sql, lane.hasChangeLog)]),
      pages
        .within(READER_SILENT_MS, readAlterations(pages.sql))
        .then((texts) => state.setAlterations(texts)),
    ]
  }
  const server = watchServer(primary, state, look, () => writer.run(trialStep))
  const tryCommit = shareBriefly(write)

  await primary.open()
  const endLooks = storeUser.outlivesOutages ? server.begin() : undefined
  const retention = createRetention(primary, storeUser.log, askForPages, lane)
  const endRetention = storeUser.outlivesOutages ? retention.begin() : undefined

  return {
    ...methods,
    ...tokens,
    get changeLog() {
      return lane.hasChangeLog ? changeLog : undefined
    },
    ...reads,
    async probe() {
      await server.probe()
      let refusal: unknown = null
      if (!hasConfirmed(RECENT_MS))
        await tryCommit().catch((error) => {
          refusal = error
        })
      const reason = state.problem()
      if (reason) throw reason
      // A full queue is not the server's fault.
      if (refusal && !(refusal instanceof RequestError && refusal.error === 'busy')) throw refusal
      return 'ok'
    },
    stats: () => ({
      problem: state.problem(),
      queuedWrites: writes.queueLength,
      databaseBytes: null,
      walBytes: null,
      freeBytes: null,
      server: {
        ...primary.counts,
        ...lane.counts,
        ...writer.counts,
        ...retention.counts,
      },
    }),
    async close() {
      endLooks?.()
      endRetention?.()
      // During an outage the queue may never drain.
      if (!primary.isLost) await writes.whenIdle()
      await closeConnections(primary, writer, lane, state)
    },
  }
}
