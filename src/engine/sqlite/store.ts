// Keeps plants in one SQLite file (https://sqlite.org/wal.html): reads in the serving thread, changes by group commit.

import { dirname } from 'node:path'
import type { ChangeLog } from '../../change-log/change-log'
import { type RetainedLog, removeOldEntries } from '../../change-log/retention'
import { messageOf, OpenError, RequestError } from '../../errors'
import { removeLeftovers } from '../../files/private-folder'
import { targetOf } from '../../files/resolve-path'
import type { Log } from '../../log'
import type { Store } from '../../store'
import { createWrites, WRITE_BYTES } from '../commit/plant-writes'
import { watchHealth } from '../health'
import type { StoreUser } from '../store-user'
import { copyBeforeMigration } from './copies/before-migration'
import { DatabaseHandle } from './database-handle'
import { fileSize, freeBytes, openFile } from './file/database-file'
import { SCHEMA_VERSION } from './file/migrations'
import { makeReserve, releaseReserve } from './file/reserve'
import { openDatabase } from './open'
import { openReplica } from './read-only/replica'
import { readWhenChanged } from './reading/latest-page'
import { createReads } from './reading/reads'

/** Revokes a token, if necessary with the reserve: no other process can write before it. */
async function revokeToken(storage: DatabaseHandle, name: string, now: number): Promise<boolean> {
  const { path } = storage
  try {
    return await storage.write(({ tokens }) => tokens.revoke(name, now))
  } catch (error) {
    if (!(error instanceof RequestError && error.error === 'disk full')) throw error
  }
  try {
    return await storage.write(({ tokens }) => {
      releaseReserve(path)
      return tokens.revoke(name, now)
    })
  } finally {
    tryReserve(path)
  }
}

/** Makes the reserve, or refills it after use by a command; it stays smaller on a full disk. */
function tryReserve(path: string, log: Log = () => {}): void {
  try {
    makeReserve(path)
  } catch (error) {
    log('warn', 'reserve-not-made', { detail: messageOf(error) })
  }
}

/** Opens the database at a path. Rejects with an `OpenError` if it cannot be opened. */
export async function openSqlite(path: string, storeUser: StoreUser): Promise<Store> {
  if (storeUser.refusal) return openReplica(path, storeUser, storeUser.refusal)
  try {
    return await openStored(path, storeUser)
  } catch (error) {
    const isStorage = error instanceof OpenError && error.storage
    if (!storeUser.usesReserve || !isStorage || !releaseReserve(targetOf(path))) throw error
    return await openStored(path, storeUser).catch((reason) => {
      tryReserve(targetOf(path))
      throw reason
    })
  }
}

/** A daemon that cannot write starts all the same, and says why. */
async function startServing(storage: DatabaseHandle, log: Log): Promise<void> {
  await storage.start().catch(({ message }) => {
    if (!storage.state.problem()) log('error', 'cannot-write', { detail: message })
  })
  tryReserve(storage.path, log)
}

async function openStored(path: string, storeUser: StoreUser): Promise<Store> {
  const file = openFile(path, storeUser)
  if (storeUser.holdsLock) await removeLeftovers(dirname(file.path))
  const backupCopy = await copyBeforeMigration(file, storeUser.stopping)
  const storage = new DatabaseHandle(file, await openDatabase(file, storeUser), storeUser)
  if (backupCopy) {
    const { schemaVersion: from, path: copy } = backupCopy
    storeUser.log('info', 'migrated', { from, to: SCHEMA_VERSION, copy })
  }
  const { state } = storage
  const probe = watchHealth({
    isProbeDue: () => storage.isTrialDue(),
    problem: () => state.problem(),
    write: () => storage.trial(),
  })
  if (storeUser.holdsLock) await startServing(storage, storeUser.log)

  const { readEnd, reads, ...read } = createReads({
    read: (act) => storage.read(act),
    snapshots: storage.snapshots,
  })
  const { writes, watch, methods } = createWrites(
    (batch) => storage.commit(batch),
    readWhenChanged(storage.path, readEnd),
  )
  const changeLog: ChangeLog = {
    ...read.changeLog,
    watch,
    lastCursor: () => storage.lastCursor(),
  }

  const retainedLog: RetainedLog = {
    state: () => storage.read(({ changeLog }) => changeLog.retainedRange()),
    times: (after, limit) => storage.read(({ changeLog }) => changeLog.times(after, limit)),
    remove: async (upTo) => {
      await writes.submit({ kind: 'removeEntries', upTo }, WRITE_BYTES)
    },
  }
  const endRetention =
    storeUser.holdsLock && storage.keepsChangeLog
      ? removeOldEntries(retainedLog, (removal) =>
          storeUser.log('info', 'changes-removed', removal),
        )
      : undefined

  return {
    ...methods,
    ...(storage.keepsChangeLog ? { changeLog } : {}),
    ...reads,
    createToken: (token) => storage.write(({ tokens }) => tokens.create(token)),
    revokeToken: (name, now) => revokeToken(storage, name, now),
    pruneTokens: (by) => storage.write(({ tokens }) => tokens.prune(by)),
    async probe() {
      await probe()
      return state.isDamaged ? 'damaged' : 'ok'
    },
    stats: () => ({
      problem: state.problem(),
      isDamaged: state.isDamaged,
      queuedWrites: writes.queueLength,
      databaseBytes: fileSize(storage.path),
      walBytes: fileSize(`${storage.path}-wal`),
      freeBytes: freeBytes(storage.path),
    }),
    async close() {
      endRetention?.()
      // During an outage the queue may never drain.
      if (!state.refusal('trial')) await writes.whenIdle()
      await storage.close()
      if (storeUser.usesReserve) tryReserve(storage.path)
    },
  }
}
