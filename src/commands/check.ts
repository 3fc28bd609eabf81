import type { Command } from '../command'
import { checkDatabase } from '../engine/sqlite/check'
import { checkFile } from '../engine/sqlite/database-file'

export const check: Command = {
  name: 'check',
  usage: '',
  summary: 'read the whole database and say whether it is as it should be',
  help: 'Works while the daemon runs. Exit code 1, and what was found, if anything is wrong; 74 if it cannot even be opened.',
  options: ['database'],
  async run({ config, out, err }) {
    checkFile(config.database)
    const { problems, schemaVersion, plants, tokens } = checkDatabase(config.database)
    for (const problem of problems) err.write(`plantstore: ${config.database}: ${problem}\n`)
    if (problems.length > 0) return 1
    out.write(`ok: ${plants} plants, ${tokens} tokens, schema version ${schemaVersion}\n`)
    return 0
  },
}
