// One daemon for all tests of a file.
import { afterAll, setDefaultTimeout } from 'bun:test'
import { type DaemonOptions, PATIENCE_MS, runProgram, startDaemon } from './daemon'
import { temporaryFolder } from './folder'
import { type StoredPlant, storedPlants } from './plants'

/** Starts a daemon on a database of its own for the file that calls it; after the last test both are gone. */
export async function startOwnDaemon(options: DaemonOptions = {}) {
  setDefaultTimeout(PATIENCE_MS)
  const folder = temporaryFolder()
  const database = folder.file('plants.db')
  const daemon = await startDaemon({ ...options, database })
  afterAll(async () => {
    await daemon.kill()
    folder[Symbol.dispose]()
  })
  const token = async (...args: readonly string[]): Promise<string> => {
    const { out, err, code } = await runProgram(['token', ...args, '--database', database])
    if (code !== 0) throw new Error(err)
    return out.trim()
  }
  return {
    daemon,
    folder,
    database,
    /** A plant of the database, read from the file. */
    stored: (id: bigint): StoredPlant | undefined =>
      storedPlants(database).find((plant) => plant.id === id),
    /** Creates a token by the command: `createToken('reader', '--scope', 'read')`. */
    createToken: (name: string, ...flags: readonly string[]) => token('create', name, ...flags),
    revokeToken: (name: string) => token('revoke', name),
  }
}
