// Refuses folders that are read-only for this process, as the sandbox of the systemd unit makes all but two.

import { accessSync, constants } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Config } from '../config/config'
import { codeOf, OpenError, UsageError } from '../errors'

function isReadOnly(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    return false
  } catch (error) {
    // Other errors are explained where the file is made.
    return codeOf(error) === 'EROFS'
  }
}

const explain = (folder: string): string =>
  `cannot write to folder ${folder}: read-only file system; under systemd, run "systemctl edit plantstore" and add the lines [Service] and ReadWritePaths=${folder}`

/**
 * Throws if the daemon cannot write to a folder of its configuration on a read-only file system. `databaseFiles`: the
 * files of the database.
 */
export function requireWritableFolders(
  { backupFolder, unix, readOnly }: Config,
  [database]: readonly string[],
): void {
  const chosen = [backupFolder, unix === null ? null : dirname(unix)]
  for (const folder of chosen) {
    // A wrong setting: a service must not be restarted.
    if (folder !== null && isReadOnly(folder)) throw new UsageError(explain(resolve(folder)))
  }
  if (database === undefined || readOnly || !isReadOnly(dirname(database))) return
  throw new OpenError(explain(dirname(database)))
}
