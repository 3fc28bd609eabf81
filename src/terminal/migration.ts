// What a command says about a migration. Its exit code and message cover all other events.

import type { Output } from '../command'
import type { Log } from '../log'

/** The log of a command: only a line if it has migrated the database. */
export const tellMigration =
  (err: Output): Log =>
  (_level, event, { from, to, copy } = {}) => {
    if (event !== 'migrated') return
    const kept = copy === undefined ? '' : `; it was copied to ${copy}`
    err.write(`migrated the database from schema ${from} to ${to}${kept}\n`)
  }
