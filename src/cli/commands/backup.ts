// plantstore backup: copies the database. The copy is checked and synced before it is renamed.

import { SERVER_BACKUPS, worksOnFiles } from '../../engine/database-url'
import { engineOf } from '../../engine/engine'
import { UsageError } from '../../errors'
import { beginFile } from '../../files/replace-file'
import { type Command, onlyArgument } from '../command'
import { countOf } from '../count'
import { copyWithProgress } from '../terminal/copy-with-progress'

const COMPLETE = 'plantstore: the backup is complete; it has the same fault as the database\n'

export const backup: Command = {
  name: 'backup',
  usage: 'FILE',
  summary: 'copy the database into a file, while the daemon runs',
  help: `Writes a snapshot of the database file, tokens included, which "plantstore
restore" reads. It is checked and synced to disk before it is renamed.`,
  options: ['database'],
  async run({ config, args, out, err }) {
    const { backup: copyDatabase, locate } = engineOf(config.database)
    if (!copyDatabase) throw worksOnFiles('backup', SERVER_BACKUPS)
    const path = onlyArgument(args, 'FILE')
    if (path === '-') throw new UsageError('a backup cannot go to standard output; give a FILE')
    // SQLite would mistake a file of this name for a sidecar, and remove it.
    const databaseFiles = locate(config.database).files
    let wrongRecords: readonly string[] = []
    const code = await copyWithProgress(out, err, async (onBytes) => {
      await using file = await beginFile(path, 'refuse', databaseFiles)
      const result = await file.write((temp) => copyDatabase(config.database, temp, onBytes))
      await file.place()
      wrongRecords = result.wrongRecords
      return `backed up ${countOf(result.plants, 'plant')} to ${path}\n`
    })
    for (const line of wrongRecords) err.write(`plantstore: ${config.database}: ${line}\n`)
    if (wrongRecords.length > 0) err.write(COMPLETE)
    return code
  },
}
