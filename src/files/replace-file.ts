// Produces files atomically: nobody sees a partial file under its name, not even after a loss of power.

import { existsSync, renameSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { OpenError } from '../errors'
import { renameWithoutReplacing } from './libc'
import { makePrivateFolder } from './private-folder'
import { checkFolder, explainFailedWrite, targetOf } from './resolve-path'
import { syncFile, syncFolder } from './sync'

/** What to do if the name is taken. */
type Existing = 'replace' | 'refuse'

/** Gives a file its name. Throws an `OpenError` if the name is taken. */
export function placeNew(made: string, path: string): void {
  if (renameWithoutReplacing(made, path)) return
  if (existsSync(path)) throw new OpenError(`${path} already exists`)
  // The file system cannot rename without replacing.
  renameSync(made, path)
}

/**
 * Makes a file: `write` writes it at a private path, then it is synced, gets its name, and the folder is synced. If the
 * path is a link, the file it leads to is replaced. Resolves to what `write` did. Throws an `OpenError` if the file cannot
 * be made.
 */
export async function produceFile<T>(
  path: string,
  existing: Existing,
  write: (temporary: string) => Promise<T>,
  onSynced?: (done: number, total: number) => void,
): Promise<T> {
  const target = targetOf(path)
  const folder = dirname(target)
  checkFolder(folder)
  try {
    await using own = await makePrivateFolder(folder)
    const made = join(own.path, 'made')
    const written = await write(made)
    await syncFile(made, onSynced)
    if (existing === 'replace') renameSync(made, target)
    else placeNew(made, target)
    syncFolder(folder)
    return written
  } catch (error) {
    throw explainFailedWrite(error, target)
  }
}
