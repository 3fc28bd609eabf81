// The index of names, by which plants are found by the beginning of their names. It slows creates down more than anything
// else in the store, so it exists only if an operator asks for it (docs/configuration.md, "Finding by name").

import type { Database } from 'bun:sqlite'
import { dirname } from 'node:path'
import type { Role } from '../role'

/** The index; each entry ends with the plant's id, the rowid. */
export const NAME_INDEX = 'plants_by_name'

const isThere = (db: Database): boolean =>
  db.query("SELECT 1 FROM sqlite_schema WHERE type = 'index' AND name = ?").get(NAME_INDEX) !== null

// In memory, the sort of ten million names takes 600 MB. A folder for temporary files may be missing, or be memory too.
function sortBesideDatabase(db: Database, act: () => void): void {
  const folder = (path: string) =>
    db.run(`PRAGMA temp_store_directory = '${path.replaceAll("'", "''")}'`)
  folder(dirname(db.filename))
  db.run('PRAGMA temp_store = FILE')
  try {
    act()
  } finally {
    db.run('PRAGMA temp_store = MEMORY')
    folder('')
  }
}

function make(db: Database, log: Role['log']): void {
  log('info', 'name-index-making')
  const started = performance.now()
  sortBesideDatabase(db, () => db.run(`CREATE INDEX ${NAME_INDEX} ON plants (name)`))
  db.run('PRAGMA wal_checkpoint(TRUNCATE)')
  log('info', 'name-index-made', { seconds: Math.ceil((performance.now() - started) / 1000) })
}

function drop(db: Database, log: Role['log']): void {
  try {
    db.run(`DROP INDEX ${NAME_INDEX}`)
    db.run('PRAGMA wal_checkpoint(TRUNCATE)')
    log('info', 'name-index-dropped')
  } catch (error) {
    // Serve even if it cannot be dropped, as on a full disk: creates are only slower.
    log('warn', 'name-index-kept', { detail: String(error) })
  }
}

/** Makes or drops the index, as the role says. Throws if it cannot be made. */
export function arrangeNameIndex(db: Database, { nameIndex, log }: Role): void {
  if (nameIndex === 'keep' || isThere(db) === (nameIndex === 'make')) return
  if (nameIndex === 'make') make(db, log)
  else drop(db, log)
}
