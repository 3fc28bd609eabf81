// Reads or copies a database without writing to it or creating files beside it.

import { Database } from 'bun:sqlite'
import { closeSync, openSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeError } from '../../../errors'
import { copyBytes } from '../../../files/copy-bytes'
import { makePrivateFolder } from '../../../files/private-folder'
import { checkFolder } from '../../../files/resolve-path'
import { fileSize } from '../file/database-file'
import { explainFailedRead } from '../file/errors'
import { filesOf } from '../file/sidecars'
import { atOneMoment, openUri, RECOVERY_SUFFIXES } from './snapshot'

// Neither of these syncs the copy: it is synced, in parts, before it is renamed.

/** https://sqlite.org/lang_vacuum.html#vacuuminto */
function vacuumInto(db: Database, to: string): void {
  db.run('COMMIT')
  db.run('PRAGMA synchronous = OFF')
  db.run('VACUUM INTO ?', [to])
}

/** Lets SQLite recover a copy from its WAL or rollback journal, which leaves one file. */
function recover(path: string): void {
  using db = new Database(path, { readwrite: true, create: false })
  db.run('PRAGMA synchronous = OFF')
  db.query('PRAGMA journal_mode = DELETE').get()
}

/** Copies the files of an idle database. */
async function copyFiles(path: string, fd: number, to: string, onBytes: OnBytes): Promise<void> {
  const total = ['', ...RECOVERY_SUFFIXES].reduce((sum, suffix) => sum + fileSize(path + suffix), 0)
  let copied = 0
  const count = (bytes: number) => {
    copied += bytes
    onBytes(copied, total)
  }
  await copyBytes(fd, to, count)
  for (const suffix of RECOVERY_SUFFIXES) {
    if (fileSize(path + suffix) === 0) continue
    const from = openSync(path + suffix, 'r')
    try {
      await copyBytes(from, to + suffix, count)
    } finally {
      closeSync(from)
    }
  }
  recover(to)
}

/** Called with the bytes done and the total; may throw to cancel. */
export type OnBytes = (done: number, total: number) => void

/**
 * Copies a database as of one moment to a new file in a private folder; neither synced nor checked.
 */
export async function copyMoment(
  from: string,
  to: string,
  onBytes: OnBytes = () => {},
): Promise<void> {
  await atOneMoment(from, async ({ path, fd, shared }) => {
    for (const file of filesOf(to)) rmSync(file, { force: true })
    if (shared) vacuumInto(shared, to)
    else await copyFiles(path, fd, to, onBytes)
  })
}

type Read<T> = (db: Database) => T | Promise<T>

/** Lets `read` read a database in place, as of one moment; null if that needs a copy. */
export function readInPlace<T>(
  path: string,
  repeatable: 'repeatable' | 'once',
  read: Read<T>,
): Promise<{ readonly result: T } | null> {
  return atOneMoment(path, async (moment) => {
    if (moment.shared) return { result: await read(moment.shared) }
    if (moment.state === 'split' || repeatable === 'once') return null
    using db = openUri(moment.path, 'immutable=1')
    return { result: await read(db) }
  })
}

/**
 * Lets `read` read a database as of one moment. `repeatable`: it can be called again, from the start; otherwise an idle
 * database is copied privately. Throws an `OpenError` if the database cannot be read.
 */
export async function readDatabase<T>(
  path: string,
  repeatable: 'repeatable' | 'once',
  read: Read<T>,
): Promise<T> {
  const seen = await readInPlace(path, repeatable, read)
  if (seen) return seen.result
  const temporary = tmpdir()
  checkFolder(temporary)
  // Only for errors of the copy: `read` may write elsewhere.
  const refuse = (error: unknown): never => {
    throw writeError(error, `a copy of ${path} in ${temporary}`)
  }
  await using folder = await makePrivateFolder(temporary).catch(refuse)
  const copy = join(folder.path, 'copy.db')
  await copyMoment(path, copy).catch(refuse)
  using db = openUri(copy, 'immutable=1')
  try {
    return await read(db)
  } catch (error) {
    throw explainFailedRead(error, realpathSync(path))
  }
}
