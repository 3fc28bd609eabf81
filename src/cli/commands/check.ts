// plantstore check: verifies the database's integrity.

import { DATABASE_OPTIONS } from '../../config/options'
import { withoutPassword } from '../../engine/database-url'
import { engineOf } from '../../engine/engine'
import { EXIT_CODES } from '../../program'
import type { Command } from '../command'
import { countOf } from '../count'
import { commandLog } from '../terminal/suspend'

export const check: Command = {
  name: 'check',
  usage: '',
  summary: "verify the database's integrity",
  help: `Reads the whole database and changes nothing. Reports damaged pages, indexes
that do not match their tables, an altered schema, and a wrong number of plants.
Corrupted text inside a name or tag goes unnoticed, as SQLite keeps no
checksums: compare with a backup. On PostgreSQL it checks the settings, the
schema, the number of plants, and that every plant can be read by its id.

Exit code 1 or 74 if anything is wrong.`,
  options: DATABASE_OPTIONS,
  async run({ config, out, err }) {
    const { database } = config
    const findings = await engineOf(database).check(database, config, commandLog(err))
    const { problems, wrongRecords, schemaVersion, plants, tokens } = findings
    const name = withoutPassword(database)
    const lines = [...problems, ...wrongRecords]
    for (const line of lines) err.write(`plantstore: ${name}: ${line}\n`)
    if (lines.length > 0) return EXIT_CODES.failure
    out.write(
      `ok: ${countOf(plants, 'plant')}, ${countOf(tokens, 'token')}, schema version ${schemaVersion}\n`,
    )
    return EXIT_CODES.ok
  },
}
