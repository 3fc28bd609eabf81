// What a command says of a migration; of the other events its exit code and message tell.

import type { Output } from '../command'
import type { Log } from '../log'

/** The log of a command: a line where it has migrated the database. */
export const tellMigration =
  (err: Output): Log =>
  (_level, event, { from, to, copy } = {}) => {
    if (event !== 'migrated') return
    const kept = copy === undefined ? '' : `; it was copied to ${copy}`
    err.write(`migrated the database from schema ${from} to ${to}${kept}\n`)
  }
