import { Database } from 'bun:sqlite'
import { existsSync, linkSync, renameSync } from 'node:fs'
import { dirname } from 'node:path'
import { OpenError } from '../../errors'
import { syncFolder } from '../../files/sync'
import { checkDatabase } from './check'
import { connect } from './connection'
import { checkFile, type OpenedFile, openFile } from './database-file'
import { explainReading } from './errors'

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
    try {
      db.run('VACUUM INTO ?', [to])
    } finally {
      // The last connection puts the log into the database, and removes it: that is synced.
      db.run('PRAGMA synchronous = FULL')
    }
  } catch (error) {
    throw explainReading(error, from)
  } finally {
    db.close(true)
  }
  const { problems, plants } = checkDatabase(to)
  if (problems.length > 0) throw new OpenError(`${from} is damaged: ${problems[0]}`, true)
  return plants
}

// Puts what is in the write-ahead log into the database, if it can be: a damaged one stays as it is.
function foldLog(path: string): void {
  try {
    const db = connect(path)
    try {
      // Nobody who reads it is waited for.
      db.run('PRAGMA busy_timeout = 0')
      db.run('PRAGMA wal_checkpoint(TRUNCATE)')
    } finally {
      db.close(true)
    }
  } catch {
    // The log is kept beside the database.
  }
}

/** Holds a database that is to be replaced, so that no daemon can serve it; null where there is none yet. */
export function holdDatabase(path: string): OpenedFile | null {
  return existsSync(path)
    ? openFile(path, { holdsLock: true, makesDatabase: false, checksHeader: false })
    : null
}

/** The ends of the names of what SQLite keeps beside a database (https://sqlite.org/tempfiles.html). */
export const BESIDE = ['-journal', '-wal', '-shm']

/**
 * Puts a new database, made in the same folder, at a path. What is there, with what is beside it, is kept under the name
 * `kept`; false where there is nothing. Whoever reads the old one goes on with that. `isHeld`: there is a database, which
 * {@link holdDatabase} holds; where it is not, one that a daemon has made meanwhile is not replaced.
 */
export function replaceDatabase(
  path: string,
  made: string,
  kept: string,
  isHeld: boolean,
): boolean {
  if (isHeld) {
    foldLog(path)
    linkSync(path, kept)
  } else if (existsSync(path)) {
    throw new OpenError(`${path} was made just now: stop the daemon that serves it, and try again`)
  }
  // What stays would be taken for the new database's.
  const beside = BESIDE.filter((suffix) => existsSync(path + suffix))
  for (const suffix of beside) renameSync(path + suffix, kept + suffix)
  // First that, then the new one: it never stands beside the old log. Ended in between, it can be run again.
  if (beside.length > 0) syncFolder(dirname(path))
  if (isHeld) renameSync(made, path)
  // Unlike a rename, it never replaces.
  else linkSync(made, path)
  return isHeld || beside.length > 0
}
