// The thread that copies and checks a database. Entry point of a Worker: loading it starts it.

import { rmSync } from 'node:fs'
import { codeOf, messageOf, OpenError } from '../../errors'
import type { BackupReply } from './backup'
import { checkDatabase } from './check'
import { readDatabase } from './snapshot'

declare const self: Worker

const [source = '', target = ''] = Bun.argv.slice(-2)
const reply = (message: BackupReply) => self.postMessage(message)

try {
  await readDatabase(source, (db) => {
    rmSync(target, { force: true })
    // It takes a snapshot itself, and fails within a transaction (https://sqlite.org/lang_vacuum.html#vacuuminto).
    db.run('COMMIT')
    // The caller syncs the copy, before it gets its name.
    db.run('PRAGMA synchronous = OFF')
    db.run('VACUUM INTO ?', [target])
  })
  reply({ findings: await checkDatabase(target) })
} catch (error) {
  const isStorage = error instanceof OpenError && error.storage
  reply({ message: messageOf(error), code: codeOf(error), isStorage })
}
