import type { Int64, NewPlant } from '../../plant'
import type { PlantPage, Store, StoreStats } from '../../store'
import { GroupCommit } from '../group-commit'
import { type Change, toRow, toRowId } from './apply-change'
import { connect, fileSize } from './database-file'
import { explainReading } from './errors'
import { type Connection, openStorage, type Storage, type StorageOptions } from './outage'
import { preparePlants } from './plants'

const LIMITS = { queuedChanges: 16_384, queuedBytes: 8 * 1024 * 1024, batchChanges: 4096 }
// What a change takes beside its texts, roughly.
const CHANGE_BYTES = 100
const ROWS_AT_ONCE = 1000
// About what so many rows take: beside a daemon, an export leaves it half of a core.
const REST_MS = 1
// A probe writes to the disk, and anybody may ask for one: they share one for this long.
const PROBE_SHARED_MS = 1000

export type SqliteOptions = StorageOptions & {
  /** Called after each commit with the changes that shared it and the milliseconds that it took. */
  readonly onCommit?: (changes: number, milliseconds: number) => void
}

const sizeOf = (plant: NewPlant): number =>
  CHANGE_BYTES + plant.name.length + (plant.tag?.length ?? 0)

/** Every plant of a database in parts, by a connection of its own that sees one moment of it. */
async function* snapshot({ path, giveTurn }: Storage): AsyncGenerator<readonly NewPlant[]> {
  const db = connect(path)
  try {
    db.run('BEGIN')
    const { list } = preparePlants(db)
    let after: Int64 | null = null
    for (;;) {
      const { plants, hasMore }: PlantPage = list({ after, limit: ROWS_AT_ONCE, tag: null })
      if (plants.length > 0) yield plants
      if (!hasMore) return
      if (giveTurn) await giveTurn(REST_MS)
      after = plants.at(-1)?.id ?? null
    }
  } catch (error) {
    throw explainReading(error, path)
  } finally {
    db.close(true)
  }
}

/**
 * Keeps plants in one SQLite file (https://sqlite.org/wal.html): reads by a connection of this thread, changes by
 * group commit. Throws an `OpenError` where the file cannot be opened.
 */
export function openSqlite(path: string, options: SqliteOptions): Store {
  const storage = openStorage(path, options)
  const changes = new GroupCommit<Change>(storage.write, LIMITS, options.onCommit)
  let probe: Promise<void> | undefined
  let probeExpires = Number.NEGATIVE_INFINITY

  const reading = <T>(read: (it: Connection) => T): Promise<T> =>
    storage.use((it) => {
      it.shared.begin()
      return read(it)
    })
  // A read that is open would not let its connection write.
  const changing = <T>(change: (it: Connection) => T): Promise<T> =>
    storage.use((it) => {
      it.shared.end()
      return change(it)
    })

  return {
    createPlant: (plant, signal) => changes.submit(['create', toRow(plant)], sizeOf(plant), signal),
    createPlants: (plants, signal) => {
      const bytes = plants.reduce((sum, plant) => sum + sizeOf(plant), 0)
      return changes.submit(['createAll', plants.map(toRow)], bytes, signal)
    },
    replacePlant: (plant, signal) =>
      changes.submit(['replace', toRow(plant)], sizeOf(plant), signal),
    deletePlant: (id, signal) => changes.submit(['delete', toRowId(id)], CHANGE_BYTES, signal),
    readPlant: (id) => reading((it) => it.plants.read(id)),
    listPlants: (query) => reading((it) => it.plants.list(query)),
    snapshot: () => snapshot(storage),
    findToken: (hash) => reading((it) => it.tokens.find(hash)),
    createToken: (token) => changing((it) => it.tokens.create(token)),
    listTokens: () => reading((it) => it.tokens.list()),
    revokeToken: (name, now) => changing((it) => it.tokens.revoke(name, now)),
    async probe() {
      if (performance.now() > probeExpires) {
        probeExpires = performance.now() + PROBE_SHARED_MS
        probe = changes.submit(['probe'], CHANGE_BYTES)
      }
      await probe
      const problem = storage.problem()
      if (problem) throw problem
    },
    stats(): StoreStats {
      return {
        queued: changes.queued,
        databaseBytes: fileSize(storage.path),
        walBytes: fileSize(`${storage.path}-wal`),
        isWritable: storage.problem() === null,
      }
    },
    async close() {
      // In an outage there may be no end to wait for.
      if (!storage.problem()) await changes.drained()
      await storage.close()
    },
  }
}
