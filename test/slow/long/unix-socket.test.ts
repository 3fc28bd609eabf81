// The end of a daemon on a unix socket whose database is locked.
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { importLines, lines } from '../../harness/commands'
import { runProgram, temporaryFolder } from '../../harness/daemon'

test('a daemon removes its socket if its first token cannot be stored', async () => {
  using folder = temporaryFolder()
  const unix = folder.file('plants.sock')
  const database = folder.file('plants.db')
  await importLines(database, lines(0, 1))
  using db = new Database(database)
  db.run('BEGIN IMMEDIATE')

  const { err, code } = await runProgram(['serve', '--database', database, '--unix', unix])

  expect(err).toContain(`"unix":"${unix}"`)
  expect(err).toEndWith('plantstore: the database is locked by another program\n')
  expect(code).toBe(1)
  expect(existsSync(unix)).toBeFalse()
})
