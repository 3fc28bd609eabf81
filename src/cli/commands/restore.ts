// plantstore restore: replaces the database with a backup, and keeps the old one.

import { worksOnFiles } from '../../engine/database-url'
import { engineOf } from '../../engine/engine'
import { type Command, onlyArgument } from '../command'
import { countOf } from '../count'
import { copying } from '../terminal/copying'

export const restore: Command = {
  name: 'restore',
  usage: 'FILE',
  summary: 'replace the database with a backup',
  help: `Checks the backup first. Refuses while another program has the database open: stop the daemon first. The
previous database is kept beside it, under the name that is printed.`,
  options: ['database'],
  overrides: { database: { value: 'FILE', help: 'the database file' } },
  async run({ config, args, out, err }) {
    const { restore: restoreDatabase } = engineOf(config.database)
    if (!restoreDatabase) {
      throw worksOnFiles('restore', 'pg_restore, point-in-time recovery, or "plantstore import"')
    }
    const path = onlyArgument(args, 'FILE')
    const suffix = `replaced-${new Date().toISOString().replace(/[:.]/g, '-')}`
    return copying(out, err, async (onBytes) => {
      const { plants, kept } = await restoreDatabase(path, config.database, suffix, onBytes)
      const previous = kept === null ? '' : `previous database kept as ${kept}\n`
      return `restored ${countOf(plants, 'plant')} to ${config.database}\n${previous}`
    })
  },
}
