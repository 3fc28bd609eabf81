import { Database } from 'bun:sqlite'
import { existsSync, linkSync, renameSync } from 'node:fs'
import { OpenError } from '../errors'
import { checkDatabase } from './check'
import { checkFile, connect, type OpenedFile, openFile } from './open'

/**
 * Copies a database, as it is at one moment, into a new file, while others write to it
 * (https://sqlite.org/lang_vacuum.html#vacuuminto); then checks the copy, which is not synced. Returns its count of
 * plants.
 */
export function copyDatabase(from: string, to: string): number {
  checkFile(from)
  const db = new Database(from, { readwrite: true, create: false, safeIntegers: true })
  try {
    db.run('PRAGMA busy_timeout = 10000')
    // The copy is synced by whoever gives it its name; here, a sync of all of it would keep those of a daemon waiting.
    db.run('PRAGMA synchronous = OFF')
    db.run('VACUUM INTO ?', [to])
  } finally {
    db.close(true)
  }
  const { problems, plants } = checkDatabase(to)
  if (problems.length > 0) throw new OpenError(`${from} is damaged: ${problems[0]}`, true)
  return plants
}

/** Puts what is in the write-ahead log into the database; false where that fails. */
function foldLog(path: string): boolean {
  try {
    const db = connect(path)
    try {
      db.run('PRAGMA wal_checkpoint(TRUNCATE)')
    } finally {
      db.close(true)
    }
    return !existsSync(`${path}-wal`)
  } catch {
    return false
  }
}

/** Holds a database that is to be replaced, so that no daemon can serve it; null where there is none yet. */
export function holdDatabase(path: string): OpenedFile | null {
  return existsSync(path) ? openFile(path, { exclusive: true, create: false, check: false }) : null
}

/** Puts a new database, made in the same folder, in the place of one that is held; that one is kept as `kept`. */
export function replaceDatabase(held: OpenedFile, made: string, kept: string): void {
  // A log that stays would be taken for the new database's.
  const log = `${held.path}-wal`
  if (!foldLog(held.path) && existsSync(log)) renameSync(log, `${kept}-wal`)
  linkSync(held.path, kept)
  renameSync(made, held.path)
}
