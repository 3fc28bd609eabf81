import {
  accessSync,
  constants,
  lstatSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import { codeOf, explainWriting, UsageError } from '../errors'
import { syncFile, syncFolder } from './sync'

/** The path behind links, be there a file or not. */
export function targetOf(path: string): string {
  try {
    return realpathSync(path)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
  }
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()
  return isLink ? targetOf(resolve(dirname(path), readlinkSync(path))) : resolve(path)
}

function checkFolder(folder: string): void {
  try {
    accessSync(folder, constants.W_OK)
  } catch (error) {
    const what = codeOf(error) === 'ENOENT' ? 'does not exist' : 'cannot be written by this user'
    throw new UsageError(`the folder ${folder} ${what}: name another`)
  }
}

/**
 * Makes a file that has its name only once it is whole and on the disk: a temporary name, fsync, rename, fsync of the
 * folder. Behind a link it replaces what is there, and not the link. `place` gives it its name. Throws a `UsageError`
 * where its folder does not let it, and an `OpenError` where the disk is full or fails.
 */
export async function produceFile(
  path: string,
  write: (temporary: string) => Promise<void>,
  place: (temporary: string, target: string) => void = renameSync,
): Promise<void> {
  const target = targetOf(path)
  checkFolder(dirname(target))
  const temporary = `${target}.${process.pid}.tmp`
  // In a container the process that was killed had the same number.
  rmSync(temporary, { force: true })
  try {
    await write(temporary)
    await syncFile(temporary)
    place(temporary, target)
    syncFolder(dirname(target))
  } catch (error) {
    throw explainWriting(error, target)
  } finally {
    rmSync(temporary, { force: true })
  }
}
