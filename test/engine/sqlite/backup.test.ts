import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { copyDatabase } from '../../../src/engine/sqlite/backup'
import { importLines } from '../../harness/commands'
import { temporaryFolder } from '../../harness/daemon'

/** A database whose check takes some tenths of a second at the least. */
async function makeDatabase(path: string): Promise<void> {
  await importLines(path, '')
  using db = new Database(path)
  db.run('PRAGMA synchronous = OFF')
  db.run(`INSERT INTO plants (id, name, tag)
    WITH RECURSIVE ids(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM ids WHERE id < 400000)
    SELECT id, 'plant number ' || id, 'tag ' || id % 1000 FROM ids`)
}

test('the check of a copy can be aborted', async () => {
  using folder = temporaryFolder()
  const database = folder.file('plants.db')
  await makeDatabase(database)
  // Once the copy is whole, it does not grow.
  let lastBytes = 0
  const onBytes = (bytes: number) => {
    if (bytes > 0 && bytes === lastBytes) throw new Error('enough')
    lastBytes = bytes
  }

  const copied = copyDatabase(database, folder.file('copy.db'), onBytes)

  expect(
    await copied.then(
      () => 'done',
      (error: Error) => error.message,
    ),
  ).toBe('enough')
})

test('a copy that cannot be read is refused in one line', async () => {
  using folder = temporaryFolder()
  await makeDatabase(folder.file('plants.db'))
  const none = copyDatabase(folder.file('none.db'), folder.file('copy.db'), () => {})

  expect(await none.catch((error: Error) => error.message)).toContain('none.db')
  expect(readdirSync(folder.path)).toEqual(['plants.db'])
})
