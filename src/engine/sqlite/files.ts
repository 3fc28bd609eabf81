// The files of a database: its own and those that SQLite keeps beside it, which must stay where they are.

import type { Database } from 'bun:sqlite'
import { existsSync, readFileSync, readSync, statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { OpenError } from '../../errors'
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
export function isLockedByOthers(path: string): boolean {
  if (!existsSync('/proc/locks')) return false
  const place = `:${statSync(path).ino} `
  const locks = readFileSync('/proc/locks', 'utf8').split('\n')
  const isForeign = (lock: string) => lock.includes('POSIX') && !lock.includes(` ${process.pid} `)
  return locks.some((lock) => lock.includes(place) && isForeign(lock))
}

type OpenFile = { readonly path: string; readonly fd: number }

// The write version of a database with a WAL (SQLite file format, section 1.3.3).
const WRITE_VERSION_AT = 18
const WITH_WAL = 2

function isInUse({ path, fd }: OpenFile): boolean {
  const version = Buffer.alloc(1)
  readSync(fd, version, 0, 1, WRITE_VERSION_AT)
  return version[0] === WITH_WAL && isLockedByOthers(path)
}

const TRIES = 50
const PAUSE_MS = 20

/**
 * Rejects with an `OpenError` if another process uses a database whose files beside it were removed. SQLite would make
 * new ones, and the changes in one pair would be lost to the other.
 */
export async function requireSidecars(file: OpenFile): Promise<void> {
  const { path } = file
  // A connection that is being opened or closed may lack them for a moment.
  for (let tries = 1; ; tries++) {
    const missing = [`${path}-wal`, `${path}-shm`].find((sidecar) => !existsSync(sidecar))
    if (missing === undefined || !isInUse(file)) return
    if (tries === TRIES) {
      throw new OpenError(
        `${path} is in use, but ${missing} was removed; restart the program that uses it: fuser ${path}`,
      )
    }
    await Bun.sleep(PAUSE_MS)
  }
}

const LOST = {
  database: 'the database was moved, replaced or removed; put it back, and restart plantstore',
  log: 'the write-ahead log (-wal) was removed or replaced; restart plantstore',
  index: 'the index of the write-ahead log (-shm) was removed or replaced; restart plantstore',
} as const

type LostFile = keyof typeof LOST

export const describeLost = (file: LostFile): string => LOST[file]

/**
 * Watches the files of an open database: `lost` names the first that was moved, replaced or deleted; null: none was.
 * `inodes`: those that another thread has seen.
 */
export function watchFiles(path: string, inodes?: readonly (string | null)[]) {
  const names = ['database', 'log', 'index'] as const
  const look = [path, `${path}-wal`, `${path}-shm`].map(watchInode)
  const initial = inodes ?? look.map((inode) => inode())
  const lost = (): LostFile | null =>
    names[look.findIndex((inode, index) => inode() !== initial[index])] ?? null
  return { inodes: initial, lost }
}

/** The answer to `PRAGMA wal_checkpoint`. */
export type CheckpointRow = {
  readonly busy: bigint
  readonly log: bigint
  readonly checkpointed: bigint
}

/** Lets the last connection that closes leave the WAL in its place, as others may have written to it. */
export function keepLog(db: Database): void {
  // It would truncate the WAL.
  db.run('PRAGMA journal_size_limit = -1')
  // SQLITE_FCNTL_PERSIST_WAL (https://sqlite.org/c3ref/c_fcntl_begin_atomic_write.html).
  db.fileControl(10, 1)
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
