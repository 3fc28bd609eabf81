// Keeps plants in one SQLite file (https://sqlite.org/wal.html): this thread reads, another commits. What the disk
// refuses is answered; what it fails ends the process.

import type { Database } from 'bun:sqlite'
import { closeSync } from 'node:fs'
import { dirname } from 'node:path'
import type { ChangeLog } from '../../change-log/change-log'
import { removeOldEntries } from '../../change-log/retention'
import { OpenError, writeError } from '../../errors'
import { tryLock, unlock } from '../../files/libc'
import { removeLeftovers } from '../../files/private-folder'
import { CANNOT_READ, RequestError } from '../../request-errors'
import type { Store } from '../../store'
import { createWrites, WRITE_BYTES } from '../commit/plant-writes'
import { createTokenChanges } from '../commit/token-writes'
import type { Outcome, Write } from '../commit/write'
import type { StoreUser } from '../store-user'
import { shareReads } from './connection'
import { DAMAGED_PAGE, explainFailedOpen, isDamage, toFailure } from './errors'
import { closeDatabase, fileSize, freeBytes, MOVED, watchFiles } from './files'
import { type OpenedFile, openDatabase, openFile } from './open'
import { createReads, openReplica, prepareReader, type Read } from './reader'
import { Writer } from './writer'

// Long enough for a daemon that polls for the lock each millisecond.
const COMMIT_YIELD_MS = 4

/** One open database: the connection of this thread, which reads, and the thread that commits. */
class OpenStore {
  readonly writer: Writer
  readonly keepsChangeLog: boolean
  readonly #reader: ReturnType<typeof prepareReader>
  readonly #lost: ReturnType<typeof watchFiles>['lost']
  readonly #sharedReads: ReturnType<typeof shareReads>
  #isClosed = false

  constructor(
    readonly file: OpenedFile,
    private readonly db: Database,
    private readonly storeUser: StoreUser,
  ) {
    const { path } = file
    this.#reader = prepareReader(db)
    const { inodes, lost } = watchFiles(path)
    this.#lost = lost
    this.keepsChangeLog = this.#reader.changeLog.isKept()
    // A command may wait for its output to be read: a transaction that long would keep the WAL from shrinking.
    this.#sharedReads = shareReads(db, storeUser.outlivesOutages)
    this.writer = new Writer({ path, inodes }, storeUser)
  }

  readonly read: Read = async (query) => {
    try {
      this.#sharedReads.begin()
      const result = query(this.#reader)
      return result instanceof Promise ? await result : result
    } catch (error) {
      throw error instanceof RequestError ? error : this.#failRead(error)
    }
  }

  async commit(batch: readonly Write[]): Promise<readonly Outcome[]> {
    if (!this.storeUser.holdsLock) await this.#yieldToDaemon()
    if (this.#isClosed) throw new RequestError('storage failed')
    try {
      return await this.writer.commit(batch)
    } finally {
      // Later reads must see this commit.
      this.#sharedReads.end()
    }
  }

  /** See `Store`. Writes nothing. */
  async probe(): Promise<'ok' | 'damaged'> {
    const { writer } = this
    if (this.#lost()) writer.note({ kind: 'moved', detail: MOVED })
    const reason = writer.problem()
    if (reason) throw reason
    return writer.isDamaged ? 'damaged' : 'ok'
  }

  /** Closes everything. What a lost log still holds is copied into the database first. */
  async close(): Promise<void> {
    const { db, file, writer } = this
    this.#isClosed = true
    if (writer.isDead) return
    this.#sharedReads.end()
    try {
      // This connection first: the last one to close waits for the disk.
      const isSaved = closeDatabase(db, this.#lost())
      const failure = await writer.close()
      const reason = isSaved ? failure?.detail : 'another program reads an old state of its log'
      if (reason !== undefined) throw new OpenError(`cannot close ${file.path}: ${reason}`, true)
    } catch (error) {
      throw writeError(error, file.path)
    } finally {
      closeSync(file.fd)
    }
  }

  #failRead(error: unknown): RequestError {
    const { detail } = toFailure(error, this.file.path)
    if (isDamage(error)) {
      this.writer.noteDamage(detail)
      return new RequestError('storage failed', DAMAGED_PAGE)
    }
    if (!this.#isClosed) this.storeUser.log('error', 'cannot-read', { detail })
    return new RequestError('storage failed', CANNOT_READ)
  }

  // Beside a daemon on the same file, a command pauses before each commit, so that the daemon gets the lock.
  async #yieldToDaemon(): Promise<void> {
    if (tryLock(this.file.fd)) unlock(this.file.fd)
    else await Bun.sleep(COMMIT_YIELD_MS)
  }
}

async function open(path: string, storeUser: StoreUser): Promise<OpenStore> {
  using opened = new DisposableStack()
  const file = openFile(path, storeUser)
  opened.defer(() => closeSync(file.fd))
  try {
    if (storeUser.holdsLock) await removeLeftovers(dirname(file.path))
    const db = await openDatabase(file, storeUser)
    opened.defer(() => db.close(true))
    const store = new OpenStore(file, db, storeUser)
    opened.move()
    return store
  } catch (error) {
    throw explainFailedOpen(error, file.path)
  }
}

/** Opens the database at a path. Rejects with an `OpenError` if it cannot be opened. */
export async function openSqlite(path: string, storeUser: StoreUser): Promise<Store> {
  if (storeUser.refusal) return openReplica(path, storeUser, storeUser.refusal)
  const { log, holdsLock } = storeUser
  const store = await open(path, storeUser)
  const { writer, keepsChangeLog, read } = store
  const { path: fullPath } = store.file
  // Finds a lock or an altered schema. Later, clients may hold all descriptors, and the thread could open no file.
  const rehearsal = holdsLock && writer.rehearse()
  const { readEnd, reads, ...rest } = createReads(read)
  const { writes, watch, methods } = createWrites((batch) => store.commit(batch), readEnd)
  const changeLog: ChangeLog = { ...rest.changeLog, watch, lastCursor: () => writer.lastCursor }
  const retainedLog = {
    state: () => read((reader) => reader.changeLog.range()),
    times: (after: number, limit: number) => read((reader) => reader.changeLog.times(after, limit)),
    remove: async (upTo: number) =>
      void (await writes.submit({ kind: 'removeEntries', upTo }, WRITE_BYTES)),
  }
  const endRetention =
    holdsLock && keepsChangeLog
      ? removeOldEntries(retainedLog, (removal) => log('info', 'changes-removed', removal))
      : undefined
  const tokenChanges = createTokenChanges(async (statements) => {
    const report = await writes.submit({ kind: 'changeTokens', statements }, WRITE_BYTES)
    return report.changed
  })

  return {
    ...methods,
    ...(keepsChangeLog ? { changeLog } : {}),
    ...reads,
    ...tokenChanges,
    probe: () => store.probe(),
    stats: () => ({
      problem: writer.problem(),
      isDamaged: writer.isDamaged,
      queuedWrites: writes.queueLength,
      databaseBytes: fileSize(fullPath),
      walBytes: fileSize(`${fullPath}-wal`),
      freeBytes: freeBytes(fullPath),
    }),
    async close() {
      endRetention?.()
      await writes.whenIdle()
      // A thread that opened the database after this one closed it would miss its -wal and -shm.
      await rehearsal
      await store.close()
    },
  }
}
