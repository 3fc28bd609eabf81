// The files of a database: its own and those that SQLite keeps beside it, which must stay where they are.

import type { Database } from 'bun:sqlite'
import { existsSync, statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { openDescriptor } from '../../files/descriptor'
import { isOpenElsewhere, watchInode } from '../../files/libc'
import { statOf } from '../../files/resolve-path'

/** Suffixes of the files beside a database (https://sqlite.org/tempfiles.html). */
export const SIDECAR_SUFFIXES = ['-journal', '-wal', '-shm'] as const

/** The file of a database and its sidecars, existing or not. */
export const filesOf = (path: string): string[] =>
  ['', ...SIDECAR_SUFFIXES].map((suffix) => path + suffix)

/** A database file that this process has opened, and its path with links resolved. */
export type OpenedFile = ReturnType<typeof openDescriptor> & { readonly path: string }

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

/**
 * True if another process has a database open, but not both files beside it are there: it is opening or closing the
 * database, or one was removed. SQLite would make a new one, and the changes in one pair would be lost to the other.
 */
export const lacksSidecar = ({ path, fd }: OpenedFile): boolean =>
  !(existsSync(`${path}-wal`) && existsSync(`${path}-shm`)) && isOpenElsewhere(fd)

/** The answer to `PRAGMA wal_checkpoint`. */
export type CheckpointRow = {
  readonly busy: bigint
  readonly log: bigint
  readonly checkpointed: bigint
}

/** Watches the files of an open database. */
export function watchFiles(db: Database) {
  const watched = ['', '-wal', '-shm'].map((suffix) => watchInode(db.filename + suffix))
  const inodes = () => watched.map((inode) => inode())
  const initial = inodes()
  return {
    /** True if one of them was moved, replaced or removed. */
    isMoved: (): boolean => inodes().some((inode, index) => inode !== initial[index]),
    /**
     * Copies the WAL that this process still holds into the database, after a file was moved or removed. False if a
     * reader of an old state prevents that. A WAL that is in place is left alone if it is another program's, or there
     * may be another index of it; closing this connection leaves it alone, too.
     */
    saveLog(): boolean {
      // Otherwise closing would truncate it.
      db.run('PRAGMA journal_size_limit = -1')
      // SQLITE_FCNTL_PERSIST_WAL (https://sqlite.org/c3ref/c_fcntl_begin_atomic_write.html).
      db.fileControl(10, 1)
      const [, log, index] = inodes()
      if (log !== null && (log !== initial[1] || index !== initial[2])) return true
      // No checkpoint is made within a transaction, such as that of reads.
      if (db.inTransaction) db.run('COMMIT')
      const row = db.query<CheckpointRow, []>('PRAGMA wal_checkpoint(PASSIVE)').get()
      return row?.busy === 0n && row.checkpointed === row.log
    },
  }
}

export type WatchedFiles = ReturnType<typeof watchFiles>
