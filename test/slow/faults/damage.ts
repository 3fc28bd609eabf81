import { Database } from 'bun:sqlite'
import * as fs from 'node:fs'
import { dirname, join } from 'node:path'
import { AS_NOBODY } from '../../harness/commands.ts'
import { overwrite } from '../../harness/damage.ts'
import { plantstore, type Start } from './daemon.ts'
import { mount, need, sh } from './lab.ts'

export interface Damage {
  name: string
  about: string
  /** Harms a healthy store; answers how to start the program on it. */
  harm: (database: string) => Promise<Start & { database?: string }> | undefined
  codes: number[]
}

export function random(length: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(length))
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
