// Edits by other programs are no damage: backups are made, check reports them, accept records them.
import { Database } from 'bun:sqlite'
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { check, importLines, lines } from '../../harness/commands'
import { PATIENCE_MS, runProgram, startDaemon, temporaryFolder } from '../../harness/daemon'

setDefaultTimeout(PATIENCE_MS)

type Entry = { action: string; id: number; before: unknown; after: unknown; request: string | null }

const accept = (database: string) => runProgram(['accept', '--database', database])
const backup = (database: string, file: string) =>
  runProgram(['backup', file, '--database', database])

function edit(database: string, sql: string): void {
  using db = new Database(database)
  db.run(sql)
}

const EDITS = `
  UPDATE plants SET name = 'Edited', tag = 'by hand' WHERE id = 2;
  DELETE FROM plants WHERE id = 3;
  INSERT INTO plants (id, name) VALUES (5, 'Inserted'), (6, 'Unknown'), (7, 'Unknown');`

const FOUND = [
  'plant 2 differs from its last entry in the change log',
  'plant 3 differs from its last entry in the change log',
  'plant 5 differs from its last entry in the change log',
  'the recorded number of plants is 4, but 6 are stored',
]

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

describe('edits by other programs', () => {
  test('are in a backup, which warns and is complete', async () => {
    using folder = temporaryFolder()
    const [database, copy] = [folder.file('plants.db'), folder.file('copy.db')]
    await using _daemon = await serve(database)
    edit(database, EDITS)

    const { out, err, code } = await backup(database, copy)

    expect({ out, code }).toEqual({ out: `backed up 6 plants to ${copy}\n`, code: 0 })
    for (const line of FOUND) expect(err).toContain(`plantstore: ${database}: ${line}\n`)
    expect(err).toContain('the backup is complete')
    const restored = folder.file('restored.db')
    expect(await runProgram(['restore', copy, '--database', restored])).toMatchObject({ code: 0 })
    using db = new Database(restored)
    expect(db.query('SELECT name FROM plants WHERE id = 2').get()).toEqual({ name: 'Edited' })
  })

  test('are entries of the change log after accept, beside a daemon, and the number of plants is right', async () => {
    using folder = temporaryFolder()
    const database = folder.file('plants.db')
    await using daemon = await serve(database)
    edit(database, EDITS)
    const checked = await check(database)

    const accepted = await accept(database)

    expect({ out: checked.out, code: checked.code }).toEqual({ out: '', code: 1 })
    expect(checked.err).toBe(
      `${FOUND.map((line) => `plantstore: ${database}: ${line}\n`).join('')}plantstore: another program made these edits; to keep them, run "plantstore accept"\n`,
    )
    expect(accepted).toEqual({
      out: 'accepted 3 edited plants; corrected the number of plants by +2\n',
      err: '',
      code: 0,
    })
    const [two, three, five, ...more] = (await entriesOf(daemon)).slice(6)
    expect(more).toEqual([])
    const request = 'accept'
    expect(two).toMatchObject({
      action: 'replace',
      id: 2,
      before: { name: 'plant 2' },
      after: { name: 'Edited', tag: 'by hand' },
      request,
    })
    expect(three).toMatchObject({
      action: 'delete',
      id: 3,
      before: { name: 'plant 3' },
      after: null,
    })
    expect(five).toMatchObject({
      action: 'create',
      id: 5,
      before: null,
      after: { name: 'Inserted' },
    })
    expect((await check(database)).out).toStartWith('ok: 6 plants, ')
    expect((await backup(database, folder.file('copy.db'))).err).toBe('')
    expect(await accept(database)).toMatchObject({ out: 'accepted 0 edited plants\n', code: 0 })
    expect(await entriesOf(daemon)).toHaveLength(9)
  })

  test('are settled by later changes of the plants, whose entries have the edited values as the old ones', async () => {
    using folder = temporaryFolder()
    const database = folder.file('plants.db')
    await using daemon = await serve(database)
    edit(database, `UPDATE plants SET name = 'Edited' || id WHERE id <= 4`)

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
    const { out, err, code } = await check(database)
    expect({ err, code }).toEqual({ err: '', code: 0 })
    expect(out).toEndWith('; not in the change log: 4 earlier edits\n')
    expect((await backup(database, folder.file('copy.db'))).err).toBe('')
  })

  test('are accepted without a change log and without a daemon: the number of plants is right', async () => {
    using folder = temporaryFolder()
    const database = folder.file('plants.db')
    await importLines(database, lines(0, 5))
    edit(database, 'DELETE FROM plants WHERE id IN (1, 2)')

    expect((await accept(database)).out).toBe(
      'accepted 0 edited plants; corrected the number of plants by -2\n',
    )
    expect((await check(database)).out).toStartWith('ok: 3 plants, ')
  })

  test('are refused in a damaged database, which stays as it is', async () => {
    using folder = temporaryFolder()
    const database = folder.file('plants.db')
    await importLines(database, lines(0, 5))
    edit(database, 'DELETE FROM plants WHERE id = 1; DROP INDEX plants_by_tag')

    const { err, code } = await accept(database)

    expect(code).toBe(1)
    expect(err).toContain('index plants_by_tag is missing; see "plantstore check"')
    using db = new Database(database)
    expect(db.query('SELECT plants FROM change_log').get()).toEqual({ plants: 5 })
  })

  test('are all accepted, however many', async () => {
    using folder = temporaryFolder()
    const database = folder.file('plants.db')
    await (await startDaemon({ database, args: ['--keep-changes', '1d'] })).kill()
    await importLines(database, lines(0, 2500))
    edit(database, `UPDATE plants SET tag = 'all'`)

    expect((await accept(database)).out).toBe('accepted 2500 edited plants\n')
    expect((await check(database)).out).toStartWith('ok: 2500 plants, ')
  })

  test('in the change log itself do not stop a backup, and check says what to do', async () => {
    using folder = temporaryFolder()
    const database = folder.file('plants.db')
    await (await serve(database)).kill()
    edit(database, 'DELETE FROM changes WHERE number = 2')

    const checked = await check(database)

    expect(checked.code).toBe(1)
    expect(checked.err).toContain(
      'lacks entries; to begin a new one, restart with --keep-changes off',
    )
    expect(checked.err).not.toContain('accept')
    expect((await backup(database, folder.file('copy.db'))).code).toBe(0)
  })
})
