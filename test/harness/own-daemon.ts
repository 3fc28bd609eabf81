import { afterAll, setDefaultTimeout } from 'bun:test'
import { type DaemonOptions, PATIENCE_MS, startDaemon, temporaryFolder } from './daemon'
import { type StoredPlant, storedPlants } from './plants'

/** Starts a daemon for the tests of the file that calls it, on a database of its own; after the last both are gone. */
export async function startOwnDaemon(options: DaemonOptions = {}) {
  setDefaultTimeout(PATIENCE_MS)
  const folder = temporaryFolder()
  const database = folder.file('plants.db')
  const daemon = await startDaemon({ ...options, database })
  afterAll(async () => {
    await daemon[Symbol.asyncDispose]()
    folder[Symbol.dispose]()
  })
  return {
    daemon,
    folder,
    database,
    /** A plant of the database, read past the daemon. */
    stored: (id: bigint): StoredPlant | undefined =>
      storedPlants(database).find((plant) => plant.id === id),
  }
}
