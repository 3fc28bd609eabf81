// Produces files atomically: no process sees a partial file under the final name, even after a loss of power. The
// target is checked before anything is read: a rename would replace a device or a pipe as readily as a file.

import { linkSync, renameSync, unlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { codeOf, OpenError, writeError } from '../errors'
import { makePrivateFolder } from './private-folder'
import { pathToWrite, requireRegular, statOf } from './resolve-path'
import { syncFile, syncFolder } from './sync'

/** Renames a file. Throws an `OpenError` if the name is taken. */
export function placeNew(tempPath: string, path: string): void {
  try {
    linkSync(tempPath, path)
    unlinkSync(tempPath)
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw new OpenError(`${path} already exists`)
    // The file system has no hard links.
    renameSync(tempPath, path)
  }
}

/** A file under a temporary name. Disposing removes it, unless it was placed. */
export type UnnamedFile = AsyncDisposable & {
  /** Its final absolute path. */
  readonly path: string
  /** Calls `write` with its private path. Rejects with an `OpenError` if the disk is full or fails. */
  write<T>(write: (tempPath: string) => Promise<T>): Promise<T>
  /** Syncs and renames the file, and syncs the folder; then it can be written anew. Rejects with an `OpenError`. */
  place(): Promise<void>
}

/**
 * Begins a file, before anything is read for it. If the path is a link, its target is written. `existing`: the action if
 * the name is taken. Rejects with a `UsageError` or an `OpenError` if no file can be placed there, or if it is one of
 * `otherFiles` of the command.
 */
export async function beginFile(
  path: string,
  existing: 'replace' | 'refuse',
  otherFiles: readonly string[] = [],
): Promise<UnnamedFile> {
  const target = pathToWrite(path, otherFiles)
  if (existing === 'refuse' && statOf(target))
    throw new OpenError(`${path} already exists; give a new FILE`)
  requireRegular(path)
  const folder = dirname(target)
  const explain = (error: unknown) => {
    throw writeError(error, target)
  }
  const privateFolder = await makePrivateFolder(folder).catch(explain)
  const tempPath = join(privateFolder.path, 'unfinished')
  async function place(): Promise<void> {
    await syncFile(tempPath)
    if (existing === 'replace') renameSync(tempPath, target)
    else placeNew(tempPath, target)
    syncFolder(folder)
  }
  return {
    path: target,
    write: (write) => write(tempPath).catch(explain),
    place: () => place().catch(explain),
    [Symbol.asyncDispose]: privateFolder[Symbol.asyncDispose],
  }
}
