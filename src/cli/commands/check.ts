// plantstore check: verifies the database's integrity.

import { canAccept, describeDifferences, MAX_NAMED } from '../../change-log/check'
import { DATABASE_OPTIONS } from '../../config/options'
import { withoutPassword } from '../../engine/database-url'
import { engineOf } from '../../engine/engine'
import { EXIT_CODES } from '../../program'
import type { Command } from '../command'
import { countOf } from '../count'
import { commandLog } from '../terminal/suspend'

const HOW_TO_ACCEPT =
  'plantstore: another program made these edits; to keep them, run "plantstore accept"\n'

export const check: Command = {
  name: 'check',
  usage: '',
  summary: "verify the database's integrity",
  help: `Reads the whole database and changes nothing. Reports damaged pages, indexes that do not match their tables,
and a schema that differs from plantstore's. Corrupted text inside a name or tag goes unnoticed, as SQLite keeps no
checksums: compare with a backup to find it. On PostgreSQL it checks the settings, the schema, and that every plant can
be read by its id.

Also reports edits by other programs: plants that differ from their last entry in the change log, and a wrong number of
plants. They are no damage; "plantstore accept" records them.

Works while the daemon runs. Exit code 1 if anything is wrong; 74 if the database is too damaged to open, or its disk
fails.`,
  options: DATABASE_OPTIONS,
  async run({ config, out, err }) {
    const { database } = config
    const findings = await engineOf(database).check(database, config, MAX_NAMED, commandLog(err))
    const { problems, warnings = [], differences, schemaVersion, plants, tokens } = findings
    const name = withoutPassword(database)
    for (const line of warnings) err.write(`plantstore: warning: ${name}: ${line}\n`)
    const lines = [...problems, ...describeDifferences(differences, plants)]
    for (const line of lines) err.write(`plantstore: ${name}: ${line}\n`)
    if (canAccept(differences)) err.write(HOW_TO_ACCEPT)
    if (lines.length > 0) return EXIT_CODES.failure
    const { unloggedEdits } = differences
    const edits =
      unloggedEdits > 0 ? `; not in the change log: ${countOf(unloggedEdits, 'earlier edit')}` : ''
    out.write(
      `ok: ${countOf(plants, 'plant')}, ${countOf(tokens, 'token')}, schema version ${schemaVersion}${edits}\n`,
    )
    return EXIT_CODES.ok
  },
}
