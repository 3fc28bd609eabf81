import { expect, setDefaultTimeout, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import {
  expectSound,
  fingerprint,
  importLines,
  lines,
  refusalOf,
  storeFolder,
} from '../../harness/commands'
import { PATIENCE_MS, runProgram } from '../../harness/daemon'

setDefaultTimeout(PATIENCE_MS)

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
])('check finds %j, and restore refuses such a backup', async (sql, problem) => {
  using folder = storeFolder()
  const [{ database }, other] = [folder, folder.file('other.db')]
  await importLines(other, lines(0, 5))
  await folder.fill(3)
  folder.edit(sql)
  const { '.': _, ...before } = fingerprint(folder.path)

  const checked = await folder.run(['check'])
  const backup = await folder.run(['backup', folder.file('copy.db')])
  const restored = await runProgram(['restore', database, '--database', other])

  expect(checked).toMatchObject({ out: '', code: 1 })
  expect(checked.err).toContain(`plantstore: ${database}: ${problem}\n`)
  for (const result of [backup, restored])
    expect(refusalOf(result, 74)).toStartWith(`${database} is damaged: `)
  expect(fingerprint(folder.path)).toMatchObject(before)
  expect(readdirSync(folder.path).sort()).toEqual(['other.db', 'plants.db'])
})

test('check prints the statement that corrects the number of plants', async () => {
  using folder = storeFolder()
  await folder.fill(5)
  folder.edit('DELETE FROM plants WHERE id = 1')

  const { out, err, code } = await folder.run(['check'])

  expect({ out, code }).toEqual({ out: '', code: 1 })
  const message = /the recorded number of plants is 5, but 4 are stored; to correct it, run (.*)\n/
  folder.edit(message.exec(err)?.[1] ?? '')
  await expectSound(folder.database, 4)
})

test('check finds that the number of plants is not recorded', async () => {
  using folder = storeFolder()
  await folder.fill(5)
  folder.edit('DELETE FROM change_log')

  expect(refusalOf(await folder.run(['check']))).toEndWith(
    'the number of plants is not recorded once; export the plants, and import them into a new database',
  )
})

test('the tables, views and indexes of other programs are left alone', async () => {
  using folder = storeFolder()
  const [database, backup] = [folder.database, folder.file('backup.db')]
  await folder.fill(3)
  folder.edit(
    `CREATE TABLE notes (id INTEGER PRIMARY KEY, note TEXT UNIQUE);
     CREATE TRIGGER kept AFTER INSERT ON notes BEGIN DELETE FROM notes WHERE id < 0; END;
     CREATE VIEW aroids AS SELECT id, name FROM plants WHERE tag = 'aroid';
     CREATE TRIGGER other INSTEAD OF DELETE ON aroids BEGIN DELETE FROM notes; END;
     CREATE INDEX plants_of_mine ON plants (name);
     ANALYZE;`,
  )

  expect((await folder.run(['token', 'create', 'phone'])).code).toBe(0)
  expect((await folder.run(['backup', backup])).code).toBe(0)
  expect((await folder.run(['restore', backup])).code).toBe(0)
  await expectSound(database, 3)
})
