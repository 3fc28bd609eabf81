// Imports and exports of a file of plants: by plantstore, by the sqlite3 command line and by PostgreSQL's COPY. Each
// begins with an empty table and index like plantstore's.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { countRows, database, executable } from './plantstore.ts'
import type { Postgres } from './postgres.ts'
import { type Command, type Finished, run, runMeasured } from './processes.ts'

/** The measured task, without `prepare`. Throws if its result is not all of the plants. */
export type Task = {
  readonly name: string
  readonly kind: 'import' | 'export'
  /** The task of sqlite3 that it is compared with. */
  readonly against: string
  readonly prepare?: () => unknown
  readonly run: () => Promise<Finished>
  readonly rows: () => number | Promise<number>
}

const countLines = async (path: string) =>
  Number((await run({ argv: ['wc', '-l', path] })).split(' ')[0])

/** Exports to a file by a process, then syncs the file, as plantstore does by itself. */
async function exportSynced(command: Command, path: string): Promise<Finished> {
  const exported = await runMeasured(command)
  const synced = await runMeasured({ argv: ['sync', path] })
  const seconds = exported.seconds + synced.seconds
  return { ...exported, seconds, cpu: exported.cpu + synced.cpu }
}

function removeDatabase(path: string): void {
  for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true })
}

const IMPORT = 'sqlite3 .import --csv'

export function plantstoreTasks(folder: string, type: 'csv' | 'ndjson', against: string): Task[] {
  const at = (name: string) => join(folder, name)
  const store = database(folder)
  const words = ['--database', store]
  return [
    {
      name: `plantstore ${type}`,
      kind: 'import',
      against: IMPORT,
      prepare: () => removeDatabase(store),
      run: () => runMeasured({ argv: [executable, 'import', at(`plants.${type}`), ...words] }),
      rows: () => countRows(store),
    },
    {
      name: `plantstore ${type}`,
      kind: 'export',
      against,
      run: () => runMeasured({ argv: [executable, 'export', at(`out.${type}`), ...words] }),
      rows: async () => (await countLines(at(`out.${type}`))) - (type === 'csv' ? 1 : 0),
    },
  ]
}

const TABLE = 'CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT)'
const INDEX = 'CREATE INDEX plants_by_tag ON plants (tag, id) WHERE tag IS NOT NULL;'
const ALL = 'SELECT id, name, tag FROM plants ORDER BY id'

export function sqliteTasks(folder: string): Task[] {
  const at = (name: string) => join(folder, name)
  const file = at('sqlite.db')
  const exporting = (mode: string): Task => ({
    name: `sqlite3 .mode ${mode}`,
    kind: 'export',
    against: `sqlite3 .mode ${mode}`,
    run: () => {
      const words = ['.headers on', `.mode ${mode}`, `.once ${at(mode)}`, `${ALL};`]
      return exportSynced({ argv: ['sqlite3', '-readonly', file, ...words] }, at(mode))
    },
    // Both have a line besides those of the plants, or the line end of the last one.
    rows: async () => (await countLines(at(mode))) - (mode === 'csv' ? 1 : 0),
  })
  return [
    {
      name: IMPORT,
      kind: 'import',
      against: IMPORT,
      async prepare() {
        removeDatabase(file)
        await run({ argv: ['sqlite3', file, `PRAGMA journal_mode=WAL; ${TABLE} STRICT; ${INDEX}`] })
      },
      run: () => {
        const words = [
          'PRAGMA synchronous=FULL',
          `.import --csv --skip 1 ${at('plants.csv')} plants`,
        ]
        return runMeasured({ argv: ['sqlite3', '-bail', file, ...words] })
      },
      rows: () => countRows(file),
    },
    exporting('csv'),
    exporting('json'),
  ]
}

export function postgresTasks(folder: string, server: Postgres): Task[] {
  const at = (name: string) => join(folder, name)
  const psql = (...words: string[]) => run(server.psql(words))
  // The client hands over bytes; the work is in the server.
  const copy = async (sql: string, runIt: typeof runMeasured = runMeasured): Promise<Finished> => {
    const before = server.cpu()
    const finished = await runIt(server.psql(['-c', sql]))
    await Bun.sleep(200)
    return { ...finished, cpu: finished.cpu + server.cpu() - before }
  }
  return [
    {
      name: `${server.version} COPY FROM`,
      kind: 'import',
      against: IMPORT,
      prepare: () =>
        psql(
          '-c',
          `DROP TABLE IF EXISTS plants; ${TABLE.replace('id INTEGER', 'id BIGINT')}; ${INDEX}`,
        ),
      run: () => copy(`\\copy plants FROM '${at('plants.csv')}' (FORMAT csv, HEADER)`),
      rows: async () => Number(await psql('-c', 'SELECT count(*) FROM plants')),
    },
    {
      name: `${server.version} COPY TO`,
      kind: 'export',
      against: 'sqlite3 .mode csv',
      run: () =>
        copy(`\\copy (${ALL}) TO '${at('postgres.csv')}' (FORMAT csv, HEADER)`, (command) =>
          exportSynced(command, at('postgres.csv')),
        ),
      rows: async () => (await countLines(at('postgres.csv'))) - 1,
    },
  ]
}
