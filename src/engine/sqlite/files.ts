// The files of a database: its own and those that SQLite keeps beside it, which must stay where they are.

import type { Database } from 'bun:sqlite'
import { existsSync, readFileSync, statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { watchInode } from '../../files/libc'
import { statOf } from '../../files/resolve-path'

/** Suffixes of the files beside a database (https://sqlite.org/tempfiles.html). */
export const SIDECAR_SUFFIXES = ['-journal', '-wal', '-shm'] as const

/** The file of a database and its sidecars, existing or not. */
export const filesOf = (path: string): string[] =>
  ['', ...SIDECAR_SUFFIXES].map((suffix) => path + suffix)

/** The size of a file in bytes; 0 if it does not exist. */
export const fileSize = (path: string): number => statOf(path)?.size ?? 0

/** The free bytes for this user on the file system of a file; null if unknown. */
export function freeBytes(path: string): number | null {
  try {
    const { bavail, bsize } = statfsSync(dirname(path))
    return bavail * bsize
  } catch {
    return null
  }
}

/** True if another process has a lock on a file, as each connection of SQLite does (proc_locks(5)). */
export function isOpenElsewhere(path: string): boolean {
  if (!existsSync('/proc/locks')) return false
  const place = `:${statSync(path).ino} `
  const locks = readFileSync('/proc/locks', 'utf8').split('\n')
  const isForeign = (lock: string) => lock.includes('POSIX') && !lock.includes(` ${process.pid} `)
  return locks.some((lock) => lock.includes(place) && isForeign(lock))
}

/**
 * True if another process has a database open, but not both files beside it are there: it is opening or closing the
 * database, or one was removed. SQLite would make a new one, and the changes in one pair would be lost to the other.
 */
export const lacksSidecar = (path: string): boolean =>
  !(existsSync(`${path}-wal`) && existsSync(`${path}-shm`)) && isOpenElsewhere(path)

export const MOVED =
  'the database, its -wal or its -shm was moved, replaced or removed; put it back, and restart plantstore'

type LostFile = 'database' | 'log' | 'index'

/**
 * Watches the files of an open database. `lost` returns the first that was moved, replaced or deleted, or null.
 * `inodes`: those that another thread has seen.
 */
export function watchFiles(path: string, inodes?: readonly (string | null)[]) {
  const names: readonly LostFile[] = ['database', 'log', 'index']
  const look = [path, `${path}-wal`, `${path}-shm`].map(watchInode)
  const initial = inodes ?? look.map((inode) => inode())
  const lost = () => names[look.findIndex((inode, index) => inode() !== initial[index])] ?? null
  return { inodes: initial, lost }
}

/** The answer to `PRAGMA wal_checkpoint`. */
export type CheckpointRow = {
  readonly busy: bigint
  readonly log: bigint
  readonly checkpointed: bigint
}

/**
 * Copies the WAL that this process still holds into the database, after a file was moved or removed. False if a reader
 * of an old state prevents that. Never by an index of which there may be another, nor over another program's new WAL.
 */
export function saveLog(db: Database, lost: LostFile): boolean {
  if (lost === 'index' || (lost === 'log' && fileSize(`${db.filename}-wal`) > 0)) return true
  const row = db.query<CheckpointRow, []>('PRAGMA wal_checkpoint(PASSIVE)').get()
  return row?.busy === 0n && row.checkpointed === row.log
}

/**
 * Closes a connection; false if what its WAL holds could not be saved after a file was moved or removed. The WAL then
 * stays in its place, as others may have written to it.
 */
export function closeDatabase(db: Database, lost: LostFile | null): boolean {
  const isSaved = !lost || saveLog(db, lost)
  if (lost) {
    // It would truncate the WAL.
    db.run('PRAGMA journal_size_limit = -1')
    // SQLITE_FCNTL_PERSIST_WAL (https://sqlite.org/c3ref/c_fcntl_begin_atomic_write.html).
    db.fileControl(10, 1)
  }
  db.close(true)
  return isSaved
}
