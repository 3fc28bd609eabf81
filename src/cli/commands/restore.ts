// plantstore restore: replaces the database with a backup, and keeps the old one.

import { resolve } from 'node:path'
import { worksOnFiles } from '../../engine/database-url'
import { engineOf } from '../../engine/engine'
import { inputBytes } from '../../files/input'
import { type Command, onlyArgument } from '../command'
import { countOf } from '../count'
import { copyWithProgress } from '../terminal/copy-with-progress'

function describeTokens(ofBackup: readonly string[] | null): string {
  if (ofBackup === null) return 'tokens are those of the previous database\n'
  if (ofBackup.length === 0) return ''
  return `tokens are those of the backup; if any of these was revoked since, revoke it again: ${ofBackup.join(', ')}\n`
}

export const restore: Command = {
  name: 'restore',
  usage: 'FILE',
  summary: 'replace the database with a backup',
  help: `Stop the daemon first: restore refuses while another program has the database
open. It checks the backup, and keeps the previous database under the name that
it prints.

The tokens of the previous database stay: revoked ones stay revoked. If there is
none, or it is damaged or of another store, the backup's tokens are used, and
the valid ones are listed.`,
  options: ['database'],
  async run({ config, args, out, err }) {
    const { restore: restoreDatabase } = engineOf(config.database)
    if (!restoreDatabase) {
      throw worksOnFiles('restore', 'pg_restore, point-in-time recovery, or "plantstore import"')
    }
    const path = onlyArgument(args, 'FILE')
    // Refuses one that cannot be read.
    inputBytes(path)
    const suffix = `replaced-${new Date().toISOString().replace(/[:.]/g, '-')}`
    return copyWithProgress(out, err, async (onBytes) => {
      const result = await restoreDatabase(path, config.database, suffix, onBytes)
      const { plants, keptPath, tokensOfBackup } = result
      const oldDatabase =
        keptPath === null ? ', a new database' : `\nprevious database kept as ${keptPath}`
      const tokens = describeTokens(tokensOfBackup)
      return `restored ${countOf(plants, 'plant')} to ${resolve(config.database)}${oldDatabase}\n${tokens}`
    })
  },
}
