// Compares the schema of a database with the one that the migrations make.

import { Database } from 'bun:sqlite'
import { applyMigrations } from './migrations'

type Entry = {
  readonly type: string
  readonly name: string
  /** The table that it belongs to. */
  readonly table: string
  readonly sql: string | null
}

const readSchema = (db: Database): Entry[] =>
  db.query<Entry, []>('SELECT type, name, tbl_name AS "table", sql FROM sqlite_schema').all()

function schemaOf(version: number): Entry[] {
  using db = new Database(':memory:')
  applyMigrations(db, 0, version)
  return readSchema(db)
}

// A step may have been laid out in another way when it ran.
const withoutLayout = (sql: string | null) => sql?.replace(/\s+/g, ' ')

// A trigger or a unique index changes or refuses what is written; any other index, table or view does no harm.
const interferes = ({ type, sql }: Entry): boolean =>
  type === 'trigger' || (type === 'index' && /^CREATE\s+UNIQUE/i.test(sql ?? ''))

/** What is missing, changed, or interferes with the tables of this program in a database of a schema version. */
export function schemaProblems(db: Database, version: number): string[] {
  const found = readSchema(db)
  const expected = schemaOf(version)
  const match = (entry: Entry) => (it: Entry) => it.type === entry.type && it.name === entry.name
  const faulty = expected.flatMap((entry) => {
    const { type, name, sql } = entry
    const same = found.find(match(entry))
    if (!same) return [`${type} ${name} is missing`]
    return withoutLayout(same.sql) === withoutLayout(sql) ? [] : [`${type} ${name} was changed`]
  })
  // SQLite keeps the name of a trigger's table as it was typed.
  const tables = new Set(expected.map(({ table }) => table))
  const foreign = found
    .filter((entry) => interferes(entry) && tables.has(entry.table.toLowerCase()))
    .filter((entry) => !expected.some(match(entry)))
    .map(
      ({ type, name, table }) =>
        `${type} ${JSON.stringify(name)} on ${table.toLowerCase()} is not plantstore's; drop it`,
    )
  return [...faulty, ...foreign]
}
