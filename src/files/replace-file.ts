// Produces a file whole: nobody sees half of it under its name, not even after a loss of power.

import { existsSync, renameSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { OpenError } from '../errors'
import { renameWithoutReplacing } from './libc'
import { inPrivateFolder } from './private-folder'
import { syncFile, syncFolder } from './sync'
import { checkFolder, explainMaking, targetOf } from './target'

/** What becomes of a file that has the name already. */
export type Existing = 'replace' | 'refuse'

/** Gives a file its name where nothing has it. Throws an `OpenError` where something has. */
export function placeNew(made: string, path: string): void {
  if (renameWithoutReplacing(made, path)) return
  if (existsSync(path)) throw new OpenError(`${path} already exists`)
  // A file system that cannot promise it.
  renameSync(made, path)
}

/**
 * Makes a file by `write`, which is given a private path: fsync, then its name, then fsync of the folder. Behind a link
 * it replaces the file, not the link. Throws an `OpenError` where it cannot be made.
 */
export async function produceFile(
  path: string,
  existing: Existing,
  write: (temporary: string) => Promise<void>,
  onSynced?: (done: number, total: number) => void,
): Promise<void> {
  const target = targetOf(path)
  const folder = dirname(target)
  checkFolder(folder)
  try {
    await inPrivateFolder(folder, async (own) => {
      const made = join(own, 'made')
      await write(made)
      await syncFile(made, onSynced)
      if (existing === 'replace') renameSync(made, target)
      else placeNew(made, target)
      syncFolder(folder)
    })
  } catch (error) {
    throw explainMaking(error, target)
  }
}
