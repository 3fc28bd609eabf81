// The backups of a database in a folder. Their names contain the time in UTC, and sort by it:
// plants-20260131T120000Z.db.

import { readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'

const TIME = /(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.db$/

/** The name of a backup made now, to the second. */
export const backupName = (database: string, now: number): string =>
  `${basename(database).replace(/\.db$/, '')}-${new Date(now).toISOString().replace(/[-:]|\.\d+/g, '')}.db`

/** The time in the name of a file; null if the file is not a backup of this database. */
export function backupTime(database: string, name: string): number | null {
  const [, year, month, day, hours, minutes, seconds] = TIME.exec(name) ?? []
  const time = Date.parse(`${year}-${month}-${day}T${hours}:${minutes}:${seconds}Z`)
  // Rejects the names of other databases, and dates such as 30 February.
  return Number.isFinite(time) && backupName(database, time) === name ? time : null
}

/**
 * The backups of a database in a folder, newest first; `time`: milliseconds since 1970. Asynchronous, because the folder may
 * be on a slow disk.
 */
export async function listBackups(folder: string, database: string) {
  const files = await readdir(folder, { withFileTypes: true })
  return files
    .flatMap((file) => {
      const time = file.isFile() ? backupTime(database, file.name) : null
      return time === null ? [] : { path: join(folder, file.name), time }
    })
    .sort((one, other) => other.time - one.time)
}
