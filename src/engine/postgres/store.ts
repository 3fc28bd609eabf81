// A store in PostgreSQL: each batch of group commit is a step of a lane; reads have separate connections. For a
// read-only store, see replica.ts.

import type { ChangeLog } from '../../change-log/change-log'
import { IN_DOUBT, OpenError } from '../../errors'
import type { Store } from '../../store'
import { createWrites, WRITE_BYTES } from '../commit/plant-writes'
import { watchHealth } from '../health'
import type { StorageState } from '../storage-state'
import type { StoreUser } from '../store-user'
import { AlteredTables } from './altered-tables'
import { Batches } from './batches'
import type { Connection } from './connecting/connection'
import { Primary } from './connecting/primary'
import { createRefuse, createServerState, type Refuse } from './connecting/refusals'
import type { PostgresTarget } from './connecting/url'
import { Lane, type Step } from './lane/lane'
import { Writer } from './lane/writer'
import { LockedRows } from './locked-rows'
import { Preparation } from './preparation'
import { createReads } from './reads'
import { RECENT_MS, statementsOf, watchServer } from './rehearsal'
import { openReplica } from './replica'
import { createRetention } from './retention'
import { createTokens } from './tokens'

// Other processes remove a lane that was not used for 30 days.
const IDLE_MS = 3_600_000

/** Closes the connections. Rejects with an `OpenError` if commits are in doubt. */
async function closeConnections(
  primary: Primary,
  writer: Writer,
  lane: Lane,
  storage: StorageState,
): Promise<void> {
  const reason = writer.isBusy() ? storage.refusal('read') : null
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
  const storage = createServerState(storeUser)
  const refuse = createRefuse(storage, storeUser)
  const lane = new Lane(storeUser, storage)
  const alteredTables = new AlteredTables(storage, storeUser.log)
  const preparation = new Preparation(target, storeUser, lane, alteredTables)
  const primary = new Primary(target, storeUser, storage, preparation, () => writer.resume())
  const writer = new Writer(primary, lane, storeUser)
  const { askForPages, changeLogReader, reads } = createReads(primary)
  const { forget, ...tokens } = createTokens(primary.reader('tokens'), changeTokens(writer, refuse))
  const lockedRows = new LockedRows(storeUser.log)
  const batches = new Batches(writer, storage, refuse, storeUser, lockedRows)
  const { writes, watch, methods } = createWrites(
    (batch) => batches.commit(batch),
    changeLogReader.read,
    forget,
  )
  const changeLog: ChangeLog = { ...changeLogReader, watch, lastCursor: () => lane.lastCursor }
  const write = () => writes.submit({ kind: 'probe' }, WRITE_BYTES)
  const look = (connection: Connection) => {
    if (storage.sinceConfirmed() >= IDLE_MS) write().catch(() => {})
    return alteredTables.read(connection)
  }
  const server = watchServer(primary, storage, statementsOf, look, writer)
  const probe = watchHealth({
    isProbeDue: () => storage.sinceConfirmed() >= RECENT_MS,
    problem: () => storage.problem(),
    write,
  })

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
      await probe()
      return 'ok'
    },
    stats: () => ({
      problem: storage.problem(),
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
      storage.close()
      endRetention?.()
      // During an outage the queue may never drain.
      if (!primary.isLost) await writes.whenIdle()
      await closeConnections(primary, writer, lane, storage)
    },
  }
}
