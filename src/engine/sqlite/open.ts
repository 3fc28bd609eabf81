// Opens the first connection to a file. Waits for locks as long as SQLite would, but without blocking the thread, so
// that signals are handled.

import type { Database } from 'bun:sqlite'
import { closeSync } from 'node:fs'
import { codeOf, OpenError } from '../../errors'
import { unlock, watchInode } from '../../files/libc'
import type { StoreUser } from '../store-user'
import { keepChanges } from './file/change-log-row'
import { connect, LOCK_PATIENCE_MS, prepareOrClose } from './file/connection'
import { distrustPageCache, isOld, type OpenedFile } from './file/database-file'
import { explainFailedOpen } from './file/errors'
import { migrate, SCHEMA_VERSION, schemaVersion } from './file/migrations'
import { requireSidecars } from './file/sidecars'

const LOCK_PAUSE_MS = 20

/** Migrates the schema, and begins or ends the change log. Throws SQLITE_BUSY if another program locks the database. */
function prepare(db: Database, { path, isLocked }: OpenedFile, storeUser: StoreUser): void {
  if (!isLocked && isOld(schemaVersion(db))) {
    throw new OpenError(
      `an older plantstore is serving ${path}; restart it with this version first`,
    )
  }
  const isMigrated = migrate(db) !== SCHEMA_VERSION
  db.run('PRAGMA journal_mode = WAL')
  // SQLite creates the WAL at the next read. It must exist to be watched.
  schemaVersion(db)
  // Copies migrations into the file at once, so that older programs see the schema version in its header.
  if (isMigrated) db.run('PRAGMA wal_checkpoint(TRUNCATE)')
  const entries = keepChanges(db, storeUser.keepChanges)
  if (entries !== null) storeUser.log('warn', 'changes-ended', { entries })
}

function connectAtOnce(file: OpenedFile, storeUser: StoreUser): Database {
  const db = connect(file.path, 0)
  return prepareOrClose(db, () => {
    prepare(db, file, storeUser)
    db.run(`PRAGMA busy_timeout = ${LOCK_PATIENCE_MS}`)
    return db
  })
}

async function connectUnlocked(file: OpenedFile, storeUser: StoreUser): Promise<Database> {
  const end = performance.now() + LOCK_PATIENCE_MS
  for (;;) {
    try {
      return connectAtOnce(file, storeUser)
    } catch (error) {
      if (!codeOf(error).startsWith('SQLITE_BUSY') || performance.now() > end) throw error
    }
    await Bun.sleep(LOCK_PAUSE_MS)
    storeUser.stopping.throwIfAborted()
  }
}

/** The first connection to a file, and the inode of the file. */
export type OpenedDatabase = { readonly db: Database; readonly inode: string | null }

/**
 * Opens the first connection to a file, and migrates its schema. First drops the page cache of the file, unless another
 * process serves it, and has already done so. Rejects with an `OpenError` if that fails, and closes the file.
 */
export async function openDatabase(
  file: OpenedFile,
  storeUser: StoreUser,
): Promise<OpenedDatabase> {
  try {
    const inodeAt = watchInode(file.path)
    const inode = inodeAt()
    if (file.isLocked) distrustPageCache(file.path)
    await requireSidecars(file.path, file.fd)
    const db = await connectUnlocked(file, storeUser)
    if (inodeAt() === inode) return { db, inode }
    // A restore may have held the lock.
    db.close(true)
    throw new OpenError(`${file.path} was replaced while it was being opened; run it again`)
  } catch (error) {
    closeSync(file.fd)
    throw explainFailedOpen(error, file.path)
  } finally {
    // A closed file is already unlocked.
    if (file.isLocked && !storeUser.holdsLock) unlock(file.fd)
  }
}
