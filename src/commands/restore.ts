import { chmodSync, chownSync, closeSync, fstatSync, type Stats, statSync } from 'node:fs'
import type { Command } from '../command'
import { copyDatabase, holdDatabase, replaceDatabase } from '../engine/sqlite/backup'
import { OpenError, UsageError } from '../errors'
import { produceFile, targetOf } from '../files/replace-file'

/** Gives a file to whom another belongs: the user who serves it need not be the one who restores it. */
function takeOwner(path: string, { uid, gid, mode }: Stats): void {
  const made = statSync(path)
  try {
    if (made.uid !== uid || made.gid !== gid) chownSync(path, uid, gid)
  } catch {
    throw new OpenError(
      `the database belongs to user ${uid}, group ${gid}: restore it as that user`,
    )
  }
  chmodSync(path, mode & 0o777)
}

export const restore: Command = {
  name: 'restore',
  usage: 'FILE',
  summary: 'put a backup in the place of the database',
  help: `Checks the backup first. Refuses while a daemon serves the database: stop it before. What was there is kept beside it,
under the name that is printed.`,
  options: ['database'],
  async run({ config, args: [path, ...rest], out }) {
    if (path === undefined || rest.length > 0) throw new UsageError('name one file')
    const held = holdDatabase(config.database)
    const database = targetOf(config.database)
    const kept = `${database}.replaced-${new Date().toISOString().replace(/[:.]/g, '-')}`
    let plants = 0
    let isKept = false
    try {
      await produceFile(
        database,
        async (temporary) => {
          plants = copyDatabase(path, temporary)
          if (held) takeOwner(temporary, fstatSync(held.fd))
        },
        (temporary, target) => {
          isKept = replaceDatabase(target, temporary, kept, held !== null)
        },
      )
    } finally {
      if (held) closeSync(held.fd)
    }
    out.write(`restored ${plants} plants to ${config.database}\n`)
    if (isKept) out.write(`what was there is kept as ${kept}\n`)
    return 0
  },
}
