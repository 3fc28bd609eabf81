// One daemon for all tests of a file.
import { afterAll, setDefaultTimeout } from 'bun:test'
import { type DaemonOptions, PATIENCE_MS, startDaemon } from './daemon'
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
  return {
    daemon,
    folder,
    database,
    /** A plant of the database, read from the file. */
    stored: (id: bigint): StoredPlant | undefined =>
      storedPlants(database).find((plant) => plant.id === id),
  }
}
