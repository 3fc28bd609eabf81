// check, backup and restore compare the schema of a database with the one that the program makes.
import { Database } from 'bun:sqlite'
import { expect, setDefaultTimeout, test } from 'bun:test'
import { check, fingerprint, importLines, lines } from '../../harness/commands'
import { PATIENCE_MS, runProgram, temporaryFolder } from '../../harness/daemon'

setDefaultTimeout(PATIENCE_MS)

async function altered(database: string, sql: string): Promise<void> {
  await importLines(database, lines(0, 3))
  change(database, sql)
}

function change(database: string, sql: string): void {
  using db = new Database(database)
  db.run(sql)
}

test.each([
  [
    'CREATE TRIGGER gone AFTER INSERT ON Plants BEGIN DELETE FROM plants WHERE id = new.id; END',
    `trigger "gone" on plants is not plantstore's; drop it`,
  ],
  [
    'CREATE UNIQUE INDEX one_name ON plants (name)',
    `index "one_name" on plants is not plantstore's; drop it`,
  ],
  ['DROP INDEX plants_by_tag', 'index plants_by_tag was changed or removed'],
  [
    'DROP INDEX plants_by_tag; CREATE INDEX plants_by_tag ON plants (tag)',
    'index plants_by_tag was changed or removed',
  ],
  ['ALTER TABLE plants ADD COLUMN colour TEXT', 'table plants was changed or removed'],
  ['DROP TABLE tokens', 'table tokens was changed or removed'],
])('finds %j, and restores no such backup', async (sql, problem) => {
  using folder = temporaryFolder()
  const [database, faulty] = [folder.file('plants.db'), folder.file('faulty.db')]
  await importLines(database, lines(0, 5))
  await altered(faulty, sql)
  const before = fingerprint(folder.path)

  const checked = await check(faulty)
  const backup = await runProgram(['backup', folder.file('copy.db'), '--database', faulty])
  const restored = await runProgram(['restore', faulty, '--database', database])

  expect(checked).toMatchObject({ out: '', code: 1 })
  expect(checked.err).toContain(`plantstore: ${faulty}: ${problem}\n`)
  for (const { out, err, code } of [backup, restored]) {
    expect({ out, code }).toEqual({ out: '', code: 74 })
    expect(err).toStartWith(`plantstore: ${faulty} is damaged: `)
    expect(err.split('\n')).toHaveLength(2)
  }
  const { '.': _, ...files } = fingerprint(folder.path)
  const { '.': __, ...filesBefore } = before
  expect(files).toEqual(filesBefore)
})

test('finds a wrong number of plants, which fails no backup or restore', async () => {
  using folder = temporaryFolder()
  const [database, copy] = [folder.file('plants.db'), folder.file('copy.db')]
  await importLines(database, lines(0, 5))
  change(database, 'DELETE FROM plants WHERE id IN (1, 2)')

  const { out, err, code } = await check(database)
  const backup = await runProgram(['backup', copy, '--database', database])
  const restored = await runProgram(['restore', copy, '--database', folder.file('new.db')])

  expect({ out, code }).toEqual({ out: '', code: 1 })
  const [, recount = ''] =
    /: the recorded number of plants is 5, but 3 are stored; to correct it, run (.*)\n/.exec(err) ??
    []
  expect([backup.code, restored.code]).toEqual([0, 0])
  change(database, recount)
  expect((await check(database)).out).toStartWith('ok: 3 plants, ')
  change(database, 'DELETE FROM change_log')
  const without = (await check(database)).err
  const [, remedy = ''] = /table change_log must have one row; .* run (.*)\n/.exec(without) ?? []
  change(database, remedy)
  change(database, recount)
  expect((await check(database)).out).toStartWith('ok: 3 plants, ')
})

test('leaves tables, views and indexes of others alone', async () => {
  using folder = temporaryFolder()
  const [database, backup] = [folder.file('plants.db'), folder.file('backup.db')]
  await altered(
    database,
    `CREATE TABLE notes (id INTEGER PRIMARY KEY, note TEXT UNIQUE);
     CREATE TRIGGER kept AFTER INSERT ON notes BEGIN DELETE FROM notes WHERE id < 0; END;
     CREATE VIEW aroids AS SELECT id, name FROM plants WHERE tag = 'aroid';
     CREATE INDEX plants_of_mine ON plants (name);
     ANALYZE;`,
  )

  expect((await runProgram(['backup', backup, '--database', database])).code).toBe(0)
  expect((await runProgram(['restore', backup, '--database', database])).code).toBe(0)
  expect((await check(database)).out).toStartWith('ok: 3 plants, ')
})
