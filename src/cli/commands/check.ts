// plantstore check: verifies the database's integrity.

import { databaseOptions } from '../../config/options'
import { withoutPassword } from '../../engine/database-url'
import { engineOf } from '../../engine/engine'
import { exitCodes } from '../../program'
import type { Command } from '../command'
import { countOf } from '../count'

export const check: Command = {
  name: 'check',
  usage: '',
  summary: "verify the database's integrity",
  help: `Reads the whole database and changes nothing. Reports damaged pages, indexes that do not match their tables,
a schema that differs from plantstore's, a wrong number of plants, and a change log that does not lead to the stored
plants. Corrupted text inside a name or tag goes unnoticed, as SQLite keeps no checksums: compare with a backup to
find it. On PostgreSQL it checks the settings, the schema, and that every plant can be read by its id.

Works while the daemon runs. Exit code 1 if anything is wrong; 74 if the database is too damaged to open, or its disk
fails.`,
  options: databaseOptions,
  async run({ config, out, err }) {
    const { database } = config
    const found = await engineOf(database).check(database, config)
    const { problems, schemaVersion, plants, tokens } = found
    const name = withoutPassword(database)
    for (const problem of problems) err.write(`plantstore: ${name}: ${problem}\n`)
    if (problems.length > 0) return exitCodes.failure
    out.write(
      `ok: ${countOf(plants, 'plant')}, ${countOf(tokens, 'token')}, schema version ${schemaVersion}\n`,
    )
    return exitCodes.ok
  },
}
