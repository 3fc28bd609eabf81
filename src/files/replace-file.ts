// Produces files atomically: no process sees a partial file under the final name, even after a loss of power. The
// target is checked before anything is read: a rename would replace a device or a pipe as readily as a file.

import { linkSync, lstatSync, renameSync, unlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { codeOf, OpenError, reasonOf, writeError } from '../errors'
import { makePrivateFolder } from './private-folder'
import {
  checkFolder,
  checkOwner,
  requireRegular,
  requireUnused,
  statOf,
  targetOf,
} from './resolve-path'
import { syncFile, syncFolder } from './sync'

/** The action if the name is taken. */
type Existing = 'replace' | 'refuse'

/** Renames a file. Throws an `OpenError` if the name is taken. */
export function placeNew(tempPath: string, path: string): void {
  try {
    linkSync(tempPath, path)
    unlinkSync(tempPath)
  } catch (error) {
    if (statOf(path, lstatSync)) throw new OpenError(`${path} already exists`)
    // The file system has no hard links.
    if (!/^(EPERM|ENOTSUP|EOPNOTSUPP|ENOSYS|EMLINK)$/.test(codeOf(error))) throw error
    renameSync(tempPath, path)
  }
}

/** A file under a temporary name. Disposing removes it, unless it was placed. */
export type UnnamedFile = AsyncDisposable & {
  /** Its final absolute path. */
  readonly path: string
  /** Its temporary, private path. */
  readonly tempPath: string
  /** Syncs and renames the file, and syncs the folder. Rejects with an `OpenError` if that fails. */
  place(): Promise<void>
}

/** Turns any error of the system into an `OpenError` that names the file. */
function explainRefusal(error: unknown, path: string): unknown {
  const explanation = writeError(error, path)
  if (codeOf(explanation) === '') return explanation
  return new OpenError(`cannot write ${path}: ${reasonOf(error)}`)
}

/**
 * Begins a file, before anything is read for it. If the path is a link, its target is replaced. Rejects with a
 * `UsageError` or an `OpenError` if no file can be placed there, or if it is one of `otherFiles` of the
 * command.
 */
export async function beginFile(
  path: string,
  existing: Existing,
  otherFiles: readonly string[] = [],
): Promise<UnnamedFile> {
  requireUnused(path, otherFiles)
  const target = targetOf(path)
  if (existing === 'replace') requireRegular(path)
  else if (statOf(resolve(path), lstatSync))
    throw new OpenError(`${path} already exists; give a new FILE`)
  const folder = dirname(target)
  checkFolder(folder)
  if (existing === 'replace') checkOwner(target)
  const privateFolder = await makePrivateFolder(folder).catch((error) => {
    throw explainRefusal(error, target)
  })
  const tempPath = join(privateFolder.path, 'unfinished')
  return {
    path: target,
    tempPath,
    async place() {
      try {
        await syncFile(tempPath)
        if (existing === 'replace') renameSync(tempPath, target)
        else placeNew(tempPath, target)
        syncFolder(folder)
      } catch (error) {
        throw explainRefusal(error, target)
      }
    },
    [Symbol.asyncDispose]: () => privateFolder[Symbol.asyncDispose](),
  }
}

/** Rejects with a `UsageError` or an `OpenError` unless {@link beginFile} can replace a file at a path. */
export async function checkReplaceable(path: string, otherFiles: readonly string[]): Promise<void> {
  await using _file = await beginFile(path, 'replace', otherFiles)
}

/** Writes the text of a file before it is placed. Throws an `OpenError` if the disk is full or fails. */
export function writeText({ path, tempPath }: UnnamedFile, text: string): void {
  try {
    writeFileSync(tempPath, text, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    throw writeError(error, path)
  }
}

/** Produces a file that `write` writes at a private path; see {@link beginFile}. Resolves to the result of `write`. */
export async function produceFile<T>(
  path: string,
  existing: Existing,
  write: (tempPath: string) => Promise<T>,
  otherFiles: readonly string[] = [],
): Promise<T> {
  await using file = await beginFile(path, existing, otherFiles)
  const result = await write(file.tempPath).catch((error) => {
    throw writeError(error, file.path)
  })
  await file.place()
  return result
}
