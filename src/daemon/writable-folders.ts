// Refuses folders that are read-only for this process, as the sandbox of the systemd unit makes all but two.

import { accessSync, constants } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Config } from '../config/config'
import { codeOf, UsageError } from '../errors'

/** Throws a `UsageError` if a folder that the configuration names is on a read-only file system. */
export function requireWritableFolders({ backupFolder, unix }: Config): void {
  for (const name of [backupFolder, unix && dirname(unix)]) {
    if (name === null) continue
    const folder = resolve(name)
    try {
      accessSync(folder, constants.W_OK)
    } catch (error) {
      // Other errors are explained where the file is made.
      if (codeOf(error) !== 'EROFS') continue
      // A wrong setting: a service must not be restarted.
      throw new UsageError(
        `cannot write to folder ${folder}: read-only file system; under systemd, run "systemctl edit plantstore" and add the lines [Service] and ReadWritePaths=${folder}`,
      )
    }
  }
}
