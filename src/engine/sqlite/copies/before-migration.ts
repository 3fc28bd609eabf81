// Keeps a copy of a database beside it before a migration.

import { closeSync, constants, fstatSync, renameSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { messageOf, OpenError } from '../../../errors'
import { openDescriptor } from '../../../files/descriptor'
import { giveAsRoot } from '../../../files/owner'
import { makePrivateFolder } from '../../../files/private-folder'
import { explainFailedWrite, requireRegular } from '../../../files/resolve-path'
import { syncFile, syncFolder } from '../../../files/sync'
import { distrustPageCache, type OpenedFile } from '../file/database-file'
import { copyOfSchema, SCHEMA_VERSION } from '../file/migrations'
import { copyDatabase } from './backup'

/** A copy of a database from before a migration. */
type KeptCopy = { readonly path: string; readonly schemaVersion: number }

async function copyOld({ path, fd }: OpenedFile, stopping: AbortSignal): Promise<KeptCopy | null> {
  const folder = dirname(path)
  await using own = await makePrivateFolder(folder)
  const tempPath = join(own.path, 'copy.db')
  const { schemaVersion } = await copyDatabase(path, tempPath, () => stopping.throwIfAborted())
  stopping.throwIfAborted()
  // A migration that was killed may be complete in the WAL, but missing from the header.
  if (schemaVersion === SCHEMA_VERSION) return null
  // The owner of the database is to restore it.
  using copy = openDescriptor(tempPath, constants.O_RDONLY | constants.O_NOFOLLOW)
  giveAsRoot(copy.fd, fstatSync(fd))
  await syncFile(tempPath)
  const keptPath = copyOfSchema(path, schemaVersion)
  requireRegular(keptPath)
  renameSync(tempPath, keptPath)
  syncFolder(folder)
  return { path: keptPath, schemaVersion }
}

/**
 * Before a migration, copies a database to `plants.db.schema-N`: checked, complete and synced. Replaces an older copy
 * of that name, which would lack later writes. Null if there is nothing to migrate. Throws an `OpenError` if no copy
 * can be made, or once it is told to stop, and closes the file without migrating it.
 */
export async function copyBeforeMigration(
  file: OpenedFile,
  stopping: AbortSignal,
): Promise<KeptCopy | null> {
  const { path, fd, isLocked, schemaVersion } = file
  if (!isLocked || schemaVersion === 0 || schemaVersion === SCHEMA_VERSION) return null
  try {
    distrustPageCache(path)
    return await copyOld(file, stopping)
  } catch (error) {
    closeSync(fd)
    const reason = explainFailedWrite(error, copyOfSchema(path, schemaVersion))
    if (reason instanceof OpenError) throw reason
    throw new OpenError(`cannot copy ${path} before its migration: ${messageOf(error)}`)
  }
}
