// Keeps plants in one SQLite file (https://sqlite.org/wal.html): this thread reads, another commits. What the disk
// refuses is answered; a write or sync that fails ends the process.

import { dirname } from 'node:path'
import type { ChangeLog } from '../../change-log/change-log'
import { type RetainedLog, removeOldEntries } from '../../change-log/retention'
import { OpenError, writeError } from '../../errors'
import { isLocked } from '../../files/libc'
import { removeLeftovers } from '../../files/private-folder'
import type { Log } from '../../log'
import { CANNOT_READ, RequestError } from '../../request-errors'
import type { Store } from '../../store'
import { createWrites, WRITE_BYTES } from '../commit/plant-writes'
import { tokenWrites } from '../commit/token-writes'
import type { StoreUser } from '../store-user'
import { shareReads } from './connection'
import { DAMAGED_PAGE, explainFailedOpen, isDamage, toFailure } from './errors'
import { freeBytes, watchFiles } from './files'
import { openDatabase, openFile } from './open'
import { createReads, openReplica, prepareReader, type Read } from './reader'
import { Writer } from './writer'

// Long enough for a daemon that polls for the lock each millisecond.
const COMMIT_YIELD_MS = 4

/** Opens a file, the connection of this thread, which reads, and the thread that commits. */
async function open(path: string, storeUser: StoreUser) {
  using opened = new DisposableStack()
  const file = opened.use(openFile(path, storeUser))
  try {
    if (storeUser.holdsLock) await removeLeftovers(dirname(file.path))
    const db = await openDatabase(file, storeUser)
    opened.defer(() => db.close(true))
    const reader = prepareReader(db)
    const keepsChangeLog = reader.changeLog.isKept()
    const sharedReads = shareReads(db)
    const files = watchFiles(db)
    const writer = new Writer(file.path, files, storeUser)
    opened.move()
    return { file, db, reader, keepsChangeLog, sharedReads, files, writer }
  } catch (error) {
    throw explainFailedOpen(error, file.path)
  }
}

type OpenStore = Awaited<ReturnType<typeof open>>

function readIn({ file, reader, sharedReads, writer }: OpenStore, log: Log): Read {
  function refuse(error: unknown): never {
    if (error instanceof RequestError) throw error
    const { detail } = toFailure(error, file.path)
    if (isDamage(error)) {
      writer.note({ kind: 'damaged', detail })
      throw new RequestError('storage failed', DAMAGED_PAGE)
    }
    if (!writer.isClosed) log('error', 'cannot-read', { detail })
    throw new RequestError('storage failed', CANNOT_READ)
  }

  // Not asynchronous: only reads of the change log wait, and an await would cost each read 4 % of its CPU.
  return (query) => {
    try {
      sharedReads.begin()
      const result = query(reader)
      return result instanceof Promise ? result.catch(refuse) : Promise.resolve(result)
    } catch (error) {
      return Promise.reject(error).catch(refuse)
    }
  }
}

/** Closes everything, unless the disk has failed. What a moved log still holds is copied into the database first. */
async function close({ file, db, sharedReads, files, writer }: OpenStore): Promise<void> {
  if (writer.fatal) return
  sharedReads.end()
  try {
    const isMoved = writer.findMoved()
    const isSaved = !isMoved || files.saveLog()
    // The last one to close waits for the disk; after a file was moved, it must be this connection.
    if (!isMoved) db.close(true)
    const failure = await writer.close()
    if (isMoved) db.close(true)
    const reason = isSaved ? failure?.detail : 'another program uses its log'
    if (reason !== undefined) throw new OpenError(`cannot close ${file.path}: ${reason}`, true)
  } catch (error) {
    throw writeError(error, file.path)
  } finally {
    file[Symbol.dispose]()
  }
}

/** Opens the database at a path. Rejects with an `OpenError` if it cannot be opened. */
export async function openSqlite(path: string, storeUser: StoreUser): Promise<Store> {
  if (storeUser.refusal) return openReplica(path, storeUser, storeUser.refusal)
  const { log, holdsLock } = storeUser
  const store = await open(path, storeUser)
  const { file, keepsChangeLog, sharedReads, writer } = store
  // Finds a lock or an altered schema. Soon, as clients may hold all descriptors later, and the thread could open no file;
  // but not at once, as the thread would slow down the start.
  const rehearsal = holdsLock && Bun.sleep(0).then(() => writer.rehearse())
  const read = readIn(store, log)
  const { readEnd, reads, ...rest } = createReads(read)
  const { writes, watch, methods } = createWrites(async (batch) => {
    // Beside a daemon on the same file, a command pauses, so that the daemon gets the lock.
    if (!holdsLock && isLocked(file.fd)) await Bun.sleep(COMMIT_YIELD_MS)
    // Later reads must see this commit.
    return writer.commit(batch).finally(sharedReads.end)
  }, readEnd)
  const changeLog: ChangeLog = { ...rest.changeLog, watch, lastCursor: () => writer.lastCursor }
  const retainedLog: RetainedLog = {
    state: () => read(({ changeLog }) => changeLog.range()),
    times: (after, limit) => read(({ changeLog }) => changeLog.times(after, limit)),
    remove: (upTo) => writes.submit({ kind: 'removeEntries', upTo }, WRITE_BYTES),
  }
  const endRetention =
    holdsLock && keepsChangeLog
      ? removeOldEntries(retainedLog, (removal) => log('info', 'changes-removed', removal))
      : undefined

  return {
    ...methods,
    changeLog: keepsChangeLog ? changeLog : undefined,
    ...reads,
    ...tokenWrites(writes),
    async probe() {
      writer.findMoved()
      const reason = writer.problem()
      if (reason) throw reason
      return writer.isDamaged ? 'damaged' : 'ok'
    },
    stats: () => ({
      problem: writer.problem(),
      isDamaged: writer.isDamaged,
      queuedWrites: writes.queueLength,
      // 0 if they cannot be looked at.
      databaseBytes: Bun.file(file.path).size,
      walBytes: Bun.file(`${file.path}-wal`).size,
      freeBytes: freeBytes(file.path),
    }),
    async close() {
      endRetention?.()
      await writes.whenIdle()
      // A thread that opened the database after this one closed it would miss its -wal and -shm.
      await rehearsal
      await close(store)
    },
  }
}
