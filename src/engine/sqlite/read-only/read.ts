// Reads a database without writing to it or creating files beside it; an older schema, too.

import type { Database } from 'bun:sqlite'
import { realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { OpenError, writeError } from '../../../errors'
import { makePrivateFolder } from '../../../files/private-folder'
import { checkFolder } from '../../../files/resolve-path'
import { explainFailedRead } from '../file/errors'
import { copyMoment } from './copy'
import { atOneMoment, openUri } from './moment'
import { showAsNewest } from './older-schema'

/**
 * The way to read a database. `once`: an idle database is copied privately before it is read. `repeatable`: it is read
 * again, from the start, if it changed meanwhile; copied only after some crashes. `in place`: the same, and never copied.
 */
export type ReadMode = 'once' | 'repeatable' | 'in place'

/** Lets `read` read a database as of one moment. Throws an `OpenError` if the database cannot be read. */
export async function readDatabase<T>(
  path: string,
  mode: ReadMode,
  read: (db: Database) => T | Promise<T>,
): Promise<T> {
  const readAsNewest = (db: Database) => {
    showAsNewest(db)
    return read(db)
  }
  const outcome = await atOneMoment(path, async (moment) => {
    if (moment.sharedDb) return { result: await readAsNewest(moment.sharedDb) }
    if (moment.state === 'split' || mode === 'once') return null
    using db = openUri(moment.path, 'immutable=1')
    return { result: await readAsNewest(db) }
  })
  if (outcome) return outcome.result
  if (mode === 'in place')
    throw new OpenError(`${path} must be copied to be read; "plantstore backup" makes a copy`)
  const tempFolder = tmpdir()
  checkFolder(tempFolder)
  // Only for errors of the copy: `read` may write elsewhere.
  const refuse = (error: unknown): never => {
    throw writeError(error, `a copy of ${path} in ${tempFolder}`)
  }
  await using folder = await makePrivateFolder(tempFolder).catch(refuse)
  const copy = join(folder.path, 'copy.db')
  await copyMoment(path, copy).catch(refuse)
  using db = openUri(copy, 'immutable=1')
  try {
    return await readAsNewest(db)
  } catch (error) {
    throw explainFailedRead(error, realpathSync(path))
  }
}
