// Copies a database without writing to it or creating files beside it.

import { Database } from 'bun:sqlite'
import { rmSync } from 'node:fs'
import { copyBytes } from '../../../files/copy-bytes'
import { openDescriptor } from '../../../files/descriptor'
import { fileSize } from '../file/database-file'
import { filesOf } from '../file/sidecars'
import { atOneMoment, RECOVERY_SUFFIXES } from './moment'

// Neither of these syncs the copy: it is synced, in parts, before it is renamed.

/** https://sqlite.org/lang_vacuum.html#vacuuminto */
function vacuumInto(db: Database, target: string): void {
  db.run('COMMIT')
  db.run('PRAGMA synchronous = OFF')
  db.run('VACUUM INTO ?', [target])
}

/** Lets SQLite recover a copy from its WAL or rollback journal, which leaves one file. */
function recover(path: string): void {
  using db = new Database(path, { readwrite: true, create: false })
  db.run('PRAGMA synchronous = OFF')
  db.query('PRAGMA journal_mode = DELETE').get()
}

/** Copies the files of an idle database. */
async function copyFiles(
  path: string,
  fd: number,
  target: string,
  onBytes: OnBytes,
): Promise<void> {
  const total = ['', ...RECOVERY_SUFFIXES].reduce((sum, suffix) => sum + fileSize(path + suffix), 0)
  let copiedBytes = 0
  const count = (bytes: number) => {
    copiedBytes += bytes
    onBytes(copiedBytes, total)
  }
  await copyBytes(fd, target, count)
  for (const suffix of RECOVERY_SUFFIXES) {
    if (fileSize(path + suffix) === 0) continue
    using sidecar = openDescriptor(path + suffix, 'r')
    await copyBytes(sidecar.fd, target + suffix, count)
  }
  recover(target)
}

/** Called with the bytes done and the total; may throw to cancel. */
export type OnBytes = (bytes: number, total: number) => void

/**
 * Copies a database as of one moment to a new file in a private folder; neither synced nor checked.
 */
export async function copyMoment(
  source: string,
  target: string,
  onBytes: OnBytes = () => {},
): Promise<void> {
  await atOneMoment(source, async ({ path, fd, sharedDb }) => {
    for (const file of filesOf(target)) rmSync(file, { force: true })
    if (sharedDb) vacuumInto(sharedDb, target)
    else await copyFiles(path, fd, target, onBytes)
  })
}
