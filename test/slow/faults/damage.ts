import { Database } from 'bun:sqlite'
import * as fs from 'node:fs'
import { dirname, join } from 'node:path'
import { AS_NOBODY } from '../../harness/commands.ts'
import { plantstore, type Start } from './daemon.ts'
import { mount, need, sh } from './lab.ts'

export const PAGE_BYTES = 4096
// The type of an interior page of a table.
const INTERIOR = 0x05

export interface Damage {
  name: string
  about: string
  /** Harms a healthy store; answers how to start the program on it. */
  harm: (database: string) => Promise<Start & { database?: string }> | undefined
  codes: number[]
}

export function overwrite(file: string, at: number, bytes: Uint8Array): void {
  const fd = fs.openSync(file, 'r+')
  fs.writeSync(fd, bytes, 0, bytes.length, at)
  fs.closeSync(fd)
}

export function random(length: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(length))
}

/** The leaves of the table of plants, of a healthy store that is closed: their page numbers, in order of the ids. */
export function leavesOfPlants(database: string): number[] {
  const db = new Database(database, { readonly: true })
  const root = db
    .query<{ rootpage: number }, []>("SELECT rootpage FROM sqlite_schema WHERE name = 'plants'")
    .get()?.rootpage
  db.close(true)
  const file = fs.readFileSync(database)
  // SQLite file format, section 1.6: an interior page has a cell for each child but the last.
  function leavesUnder(number: number): number[] {
    const page = file.subarray((number - 1) * PAGE_BYTES, number * PAGE_BYTES)
    if (page[0] !== INTERIOR) return [number]
    const cells = Array.from({ length: page.readUInt16BE(3) }, (_, cell) =>
      page.readUInt32BE(page.readUInt16BE(12 + 2 * cell)),
    )
    return [...cells, page.readUInt32BE(8)].flatMap(leavesUnder)
  }
  return leavesUnder(root ?? 0)
}

function change(database: string, ...statements: string[]): void {
  const db = new Database(database)
  for (const statement of statements) db.run(statement)
  db.run('PRAGMA wal_checkpoint(TRUNCATE)')
  db.close()
}

/** Root may write everywhere, so permissions are tried as nobody, with a copy that it can run. */
async function asNobody(folder: string): Promise<Start> {
  await need('setpriv')
  const program = join(folder, 'plantstore')
  fs.copyFileSync(plantstore[0] ?? '', program)
  fs.chmodSync(program, 0o755)
  return { wrap: [...AS_NOBODY], program: [program] }
}

export const damages: Damage[] = [
  {
    name: 'header',
    about: 'the header is overwritten',
    codes: [1],
    harm: (database) => void overwrite(database, 0, random(100)),
  },
  {
    name: 'text',
    about: 'the file is no database but a text',
    codes: [1],
    harm: (database) => void fs.writeFileSync(database, 'Monstera deliciosa\n'.repeat(100)),
  },
  {
    name: 'schema-page',
    about: 'the page of the schema is overwritten, but for the header',
    codes: [74],
    harm: (database) => void overwrite(database, 100, random(3996)),
  },
  {
    name: 'half',
    about: 'the file is cut in half',
    codes: [74],
    harm: (database) => void fs.truncateSync(database, fs.statSync(database).size / 2),
  },
  {
    name: 'page',
    about: 'the file is cut within its first page',
    codes: [74],
    harm: (database) => void fs.truncateSync(database, 1000),
  },
  {
    name: 'newer-schema',
    about: 'the schema is newer than the program',
    codes: [1],
    harm: (database) => void change(database, 'PRAGMA user_version = 999'),
  },
  {
    name: 'another-program',
    about: 'a database of another program',
    codes: [1],
    harm(database) {
      fs.rmSync(database)
      change(database, 'CREATE TABLE recipes (id INTEGER PRIMARY KEY, text TEXT)')
      return undefined
    },
  },
  {
    name: 'missing-folder',
    about: 'the folder is missing',
    codes: [1, 2],
    harm: async (database) => ({ database: join(dirname(database), 'no', 'such', 'plants.db') }),
  },
  {
    name: 'folder',
    about: 'the database is a folder',
    codes: [1, 2],
    harm: async (database) => ({ database: dirname(database) }),
  },
  {
    name: 'read-only-file',
    about: 'a file that only others may write',
    codes: [1, 74],
    async harm(database) {
      fs.chmodSync(database, 0o444)
      fs.chmodSync(dirname(database), 0o777)
      return asNobody(dirname(dirname(database)))
    },
  },
  {
    name: 'read-only-folder',
    about: 'a folder that only others may write',
    codes: [1, 74],
    async harm(database) {
      fs.chownSync(database, 65534, 65534)
      fs.chmodSync(dirname(database), 0o555)
      return asNobody(dirname(dirname(database)))
    },
  },
  {
    name: 'read-only-mount',
    about: 'a file system that is mounted read-only',
    codes: [1, 74],
    async harm(database) {
      const at = dirname(database)
      await mount(at, '--bind', at)
      await sh('mount', '-o', 'remount,bind,ro', at)
      return {}
    },
  },
]
