// Keeps plants in one SQLite file (https://sqlite.org/wal.html): reads in the serving thread, changes by group commit.

import { dirname } from 'node:path'
import type { ChangeLog } from '../../changes'
import { PlantError } from '../../errors'
import { removeLeftovers } from '../../files/private-folder'
import type { Store } from '../../store'
import type { Change } from '../change'
import { GroupCommit } from '../group-commit'
import { createUseRecorder } from '../last-use'
import { removeOldEntries } from '../log-retention'
import { createLogWatch } from '../log-watch'
import { CHANGE_BYTES, LIMITS, plantChanges } from '../plant-changes'
import type { Role } from '../role'
import { copyBeforeMigration } from './before-migration'
import type { ServingConnection } from './connection'
import { fileSize, freeBytes, openFile } from './database-file'
import { SCHEMA_VERSION } from './migrations'
import { countPlants } from './plants'
import { Storage } from './storage'

// A probe writes to the disk, and anybody may ask for one: a commit or probe within the last second will do.
const PROBE_EVERY_MS = 1000
const PROBE_PATIENCE_MS = 1000
// A disk that keeps a commit waiting for this long counts as unwritable.
const STALLED_MS = 10_000

/** Why a storage cannot write; null if it can, or nobody knows yet. */
function problemOf(storage: Storage): PlantError | null {
  const problem = storage.problem()
  const seconds = Math.floor(storage.worker.stalledFor() / 1000)
  if (problem || seconds * 1000 < STALLED_MS) return problem
  return new PlantError(50302, `the disk has confirmed no write for ${seconds} s`)
}

/** Returns a probe of whether a storage can be written. It never waits behind the queue, nor for a stalled disk. */
function createProbe(storage: Storage): () => Promise<void> {
  let probing: Promise<unknown> | undefined

  return async () => {
    if (storage.worker.sinceConfirmed() >= PROBE_EVERY_MS) {
      probing ??= storage.commit([['probe']]).finally(() => {
        probing = undefined
      })
      // One that is not waited for to its end must not be an unhandled rejection.
      probing.catch(() => {})
      await Promise.race([probing, Bun.sleep(PROBE_PATIENCE_MS)])
    }
    const problem = problemOf(storage)
    if (problem) throw problem
  }
}

/** Opens the database at a path. Rejects with an `OpenError` if it cannot be opened. */
export async function openSqlite(path: string, role: Role): Promise<Store> {
  const file = openFile(path, role)
  if (role.holdsLock) await removeLeftovers(dirname(file.path))
  const copied = await copyBeforeMigration(file)
  const storage = new Storage(file, role)
  if (copied) {
    const { schemaVersion: from, path: copy } = copied
    role.log('info', 'migrated', { from, to: SCHEMA_VERSION, copy })
  }
  const changes = new GroupCommit<Change>(async (batch) => {
    const committed = await storage.commit(batch)
    wake()
    return committed
  }, LIMITS)
  const probe = createProbe(storage)
  const recordUse = createUseRecorder((hash, hour) =>
    changes.submit(['use', hash, hour], CHANGE_BYTES),
  )
  if (role.holdsLock) {
    await storage
      .start()
      .catch(({ message }) => role.log('error', 'cannot-write', { detail: message }))
  }

  const reading = <T>(read: (it: ServingConnection) => T): Promise<T> =>
    storage.use((it) => {
      it.shared.begin()
      return read(it)
    })
  // An open read transaction would keep its connection from writing.
  const writing = <T>(write: (it: ServingConnection) => T): Promise<T> =>
    storage.use((it) => {
      it.shared.end()
      return write(it)
    })

  const readLog: ChangeLog['read'] = (options) => reading((it) => it.changes.read(options))
  const { wake, watch } = createLogWatch(readLog)
  const log: ChangeLog = {
    read: readLog,
    history: (id, options) => reading((it) => it.changes.history(id, options)),
    watch,
    stats: () => reading((it) => it.changes.stats()),
  }

  async function forget(): Promise<boolean> {
    const time = await reading((it) => it.changes.expired(Date.now()))
    if (time !== null) await changes.submit(['forget', time], CHANGE_BYTES)
    return time !== null
  }
  const endRetention = role.holdsLock && storage.keepsLog ? removeOldEntries(forget) : undefined

  return {
    ...plantChanges(changes),
    ...(storage.keepsLog ? { changes: log } : {}),
    readPlant: (id) => reading((it) => it.plants.read(id)),
    listPlants: (query) => reading((it) => it.plants.list(query)),
    countPlants: () => reading((it) => countPlants(it.db)),
    findToken: (hash) => reading((it) => it.tokens.find(hash)),
    createToken: (token) => writing((it) => it.tokens.create(token)),
    listTokens: () => reading((it) => it.tokens.list()),
    revokeToken: (name, now) => writing((it) => it.tokens.revoke(name, now)),
    pruneTokens: (by) => writing((it) => it.tokens.prune(by)),
    recordUse,
    probe,
    stats: () => ({
      isWritable: problemOf(storage) === null,
      queued: changes.queued,
      databaseBytes: fileSize(storage.path),
      walBytes: fileSize(`${storage.path}-wal`),
      freeBytes: freeBytes(storage.path),
    }),
    async close() {
      endRetention?.()
      // In an outage there may be no end to wait for.
      if (!storage.problem()) await changes.drained()
      await storage.close()
    },
  }
}
