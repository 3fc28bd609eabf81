// One daemon for all tests of a file.
import { expect } from 'bun:test'
import { createClient, type NewPlant } from '../../src/client/client'
import { type DaemonOptions, runProgram, startDaemon, TOKEN } from './daemon'
import { own } from './own'
import { ownFolder } from './own-folder'
import { type StoredPlant, storedPlants } from './plants'

/**
 * A daemon on a database of its own for the file that calls it: started before its first test, gone after its last one.
 */
export function ownDaemon(options: DaemonOptions = {}) {
  const folder = ownFolder()
  const database = folder.file('plants.db')
  const token = async (...args: readonly string[]): Promise<string> => {
    const { out, err, code } = await runProgram(['token', ...args, '--database', database])
    if (code !== 0) throw new Error(err)
    return out.trim()
  }
  const daemon = own(
    () => startDaemon({ ...options, database }),
    (it) => it.kill(),
  )
  return {
    daemon,
    folder,
    database,
    /** A plant of the database, read from the file. */
    stored: (id: bigint): StoredPlant | undefined =>
      storedPlants(database).find((plant) => plant.id === id),
    /** Creates any number of plants. */
    async createPlants(plants: readonly NewPlant[]): Promise<void> {
      const client = createClient({ url: daemon.url, token: TOKEN })
      for await (const { refused } of client.createAll(plants)) expect(refused).toEqual([])
    },
    /** Deletes every plant. */
    async removePlants(): Promise<void> {
      const client = createClient({ url: daemon.url, token: TOKEN })
      const plants = storedPlants(database).map(({ tag, ...it }) =>
        tag === null ? it : { ...it, tag },
      )
      for (let at = 0; at < plants.length; at += 1000)
        await client.deletePlants(plants.slice(at, at + 1000))
    },
    /** Creates a token by the command: `createToken('reader', '--scope', 'read')`. */
    createToken: (name: string, ...flags: readonly string[]) => token('create', name, ...flags),
    revokeToken: (name: string) => token('revoke', name),
  }
}
