// Shows an older schema as the newest: temporary views add what it lacks, and the file stays as it is.

import { Database } from 'bun:sqlite'
import { applyMigrations, SCHEMA_VERSION, schemaVersion } from '../file/migrations'

type Column = { readonly table: string; readonly name: string; readonly value: string | null }

const columnsOf = (db: Database): Column[] =>
  db
    .query<Column, []>(
      `SELECT entry.name AS "table", info.name, dflt_value AS value
       FROM sqlite_schema AS entry, pragma_table_info(entry.name) AS info
       WHERE entry.type = 'table' ORDER BY entry.name, cid`,
    )
    .all()

// The columns whose defaults would be wrong, because migrations compute their values.
const COMPUTED: Readonly<Record<string, string>> = {
  'change_log.plants': '(SELECT count(*) FROM main.plants)',
}

/** Adds the tables that a connection's database lacks, which are empty, and columns with their default values. */
export function showAsNewest(db: Database): void {
  if (schemaVersion(db) === SCHEMA_VERSION) return
  using newest = new Database(':memory:')
  applyMigrations(newest, 0, SCHEMA_VERSION)
  const storedColumns = columnsOf(db)
  for (const [table, columns] of Map.groupBy(columnsOf(newest), (column) => column.table)) {
    const inFile = storedColumns.filter((column) => column.table === table).map(({ name }) => name)
    if (columns.every(({ name }) => inFile.includes(name))) continue
    const values = columns.map(({ name, value }) =>
      inFile.includes(name) ? name : `${COMPUTED[`${table}.${name}`] ?? value} AS ${name}`,
    )
    const fromClause = inFile.length > 0 ? `FROM main.${table}` : 'WHERE false'
    db.run(`CREATE TEMP VIEW ${table} AS SELECT ${values} ${fromClause}`)
  }
}
