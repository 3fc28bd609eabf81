import { closeSync, renameSync } from 'node:fs'
import { UsageError } from '../config'
import { copyDatabase, holdDatabase, replaceDatabase } from '../engine/backup'
import type { Command } from './command'
import { produceFile } from './produce'

export const restore: Command = {
  name: 'restore',
  usage: 'FILE',
  summary: 'put a backup in the place of the database',
  help: `Checks the backup first. Refuses while a daemon serves the database: stop it before. What was there is kept beside it,
under the name that is printed.`,
  options: ['database'],
  async run({ config, args: [path, ...rest], out }) {
    if (path === undefined || rest.length > 0) throw new UsageError('name one file')
    const { database } = config
    const kept = `${database}.replaced-${new Date().toISOString().replace(/[:.]/g, '-')}`
    const held = holdDatabase(database)
    let plants = 0
    try {
      await produceFile(
        database,
        async (temporary) => {
          plants = copyDatabase(path, temporary)
        },
        (temporary, target) => {
          if (held) replaceDatabase(held, temporary, kept)
          else renameSync(temporary, target)
        },
      )
    } finally {
      if (held) closeSync(held.fd)
    }
    out.write(`restored ${plants} plants to ${database}\n`)
    if (held) out.write(`what was there is kept as ${kept}\n`)
    return 0
  },
}
