import { existsSync } from 'node:fs'
import type { Command } from '../command'
import { copyDatabase } from '../engine/sqlite/backup'
import { UsageError } from '../errors'
import { produceFile } from '../files/replace-file'

export const backup: Command = {
  name: 'backup',
  usage: 'FILE',
  summary: 'copy the database into a file, while the daemon runs',
  help: `Writes a database of its own, as the store is at one moment, tokens included. The copy is checked, and on the disk,
before it has its name. "plantstore restore FILE" puts it back.`,
  options: ['database'],
  async run({ config, args: [path, ...rest], out }) {
    if (path === undefined || rest.length > 0) throw new UsageError('name one file')
    if (existsSync(path)) throw new UsageError(`${path} exists: name a new file`)
    let plants = 0
    await produceFile(path, async (temporary) => {
      plants = copyDatabase(config.database, temporary)
    })
    out.write(`backed up ${plants} plants to ${path}\n`)
    return 0
  },
}
