// Edits by other programs are no damage: backups have them, and later entries of the change log begin with them.
import { Database } from 'bun:sqlite'
import { expect, setDefaultTimeout, test } from 'bun:test'
import { check, expectSound, storeFolder } from '../../harness/commands'
import { PATIENCE_MS, runProgram, startDaemon } from '../../harness/daemon'

setDefaultTimeout(PATIENCE_MS)

type Entry = { action: string; id: number; before: unknown; after: unknown; request: string | null }

const backup = (database: string, file: string) =>
  runProgram(['backup', file, '--database', database])

/** A daemon with the plants 1 to 4 in its change log, and 5, which was deleted again. */
async function serve(database: string) {
  const daemon = await startDaemon({ database, args: ['--keep-changes', '1d'] })
  for (const id of [1, 2, 3, 4, 5]) await daemon.create(`{"id":${id},"name":"plant ${id}"}`)
  await daemon.fetch('/plants/5', { method: 'DELETE' })
  return daemon
}

type Served = Awaited<ReturnType<typeof serve>>

const entriesOf = async (daemon: Served): Promise<Entry[]> =>
  ((await (await daemon.fetch('/plants/changes')).json()) as { changes: Entry[] }).changes

test('backup keeps the edits of other programs, and warns of a wrong number of plants', async () => {
  using folder = storeFolder()
  const [database, copy] = [folder.database, folder.file('copy.db')]
  await using _daemon = await serve(database)
  folder.edit(`UPDATE plants SET name = 'Edited', tag = 'by hand' WHERE id = 2;
     DELETE FROM plants WHERE id = 3;
     INSERT INTO plants (id, name) VALUES (5, 'Inserted'), (6, 'Unknown'), (7, 'Unknown');`)

  const { out, err, code } = await backup(database, copy)

  expect({ out, code }).toEqual({ out: `backed up 6 plants to ${copy}\n`, code: 0 })
  expect(err).toStartWith(
    `plantstore: ${database}: the recorded number of plants is 4, but 6 are stored; `,
  )
  expect(err).toContain('the backup is complete')
  const restored = folder.file('restored.db')
  expect(await runProgram(['restore', copy, '--database', restored])).toMatchObject({ code: 0 })
  using db = new Database(restored)
  expect(db.query('SELECT name FROM plants WHERE id = 2').get()).toEqual({ name: 'Edited' })
})

test('the statement that check prints corrects the number of plants while a daemon serves', async () => {
  using folder = storeFolder()
  const { database } = folder
  await using daemon = await serve(database)
  folder.edit('DELETE FROM plants WHERE id = 3')
  const { err, code } = await check(database)
  const [, recount = ''] = /to correct it, run (.*)\n/.exec(err) ?? []

  folder.edit(recount)

  expect(code).toBe(1)
  await daemon.create(8, 'plant 8')
  await expectSound(database, 4)
  const status = (await (await daemon.fetch('/status')).json()) as { plants: number }
  expect(status.plants).toBe(4)
})

test('later entries have the edited values as old values', async () => {
  using folder = storeFolder()
  const { database } = folder
  await using daemon = await serve(database)
  folder.edit(`UPDATE plants SET name = 'Edited' || id WHERE id <= 4`)

  await daemon.fetch('/plants/1', { method: 'PATCH', json: { tag: 't' } })
  await daemon.fetch('/plants/2', { method: 'PUT', json: { name: 'put' } })
  await daemon.fetch('/plants/3', { method: 'DELETE' })
  await daemon.fetch('/plants/batch', {
    method: 'PUT',
    json: { plants: [{ id: 4, name: 'put too' }] },
  })

  expect((await entriesOf(daemon)).slice(6)).toMatchObject([
    { before: { name: 'Edited1' }, after: { name: 'Edited1', tag: 't' } },
    { before: { name: 'Edited2' }, after: { name: 'put' } },
    { before: { name: 'Edited3' }, after: null },
    { before: { name: 'Edited4' }, after: { name: 'put too' } },
  ])
  expect(await check(database)).toMatchObject({ err: '', code: 0 })
  expect((await backup(database, folder.file('copy.db'))).err).toBe('')
})
