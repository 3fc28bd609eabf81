// One damaged page fails what needs it, and nothing else.
import { Database } from 'bun:sqlite'
import { expect, setDefaultTimeout, test } from 'bun:test'
import { importLines, lines, storeFolder } from '../../harness/commands'
import {
  type Daemon,
  PATIENCE_MS,
  runProgram,
  startDaemon,
  temporaryFolder,
} from '../../harness/daemon'
import { damageLeaf, leavesOf, overwrite, PAGE_BYTES } from '../../harness/damage'
import { expectError } from '../../harness/plants'

setDefaultTimeout(PATIENCE_MS)

const PLANTS = 3000

async function startDamaged(database: string): Promise<{ daemon: Daemon; damaged: number }> {
  await importLines(database, lines(0, PLANTS))
  const { id: damaged } = damageLeaf(database)
  return { daemon: await startDaemon({ database, args: ['--keep-changes', '1d'] }), damaged }
}

test('a damaged page fails the requests that need it, and no others', async () => {
  using folder = storeFolder()
  const { daemon, damaged } = await startDamaged(folder.database)
  await using _ = daemon
  expect(await (await daemon.fetch('/health')).json()).toEqual({ status: 'ok' })
  expect(await daemon.metric('plantstore_storage_damaged')).toBe(0)

  for (let round = 0; round < 12; round++) {
    const met = await daemon.fetch(`/plants/${damaged}`)
    expect(await expectError(met, 50302)).toBe(
      'a page of the database is damaged or cannot be read',
    )
    const others = await Promise.all([
      daemon.create(PLANTS + round),
      daemon.fetch('/plants/0'),
      daemon.fetch('/plants?limit=5'),
      daemon.fetch('/health'),
    ])
    expect(others.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    await Bun.sleep(50)
  }

  await expectError(await daemon.fetch(`/plants?limit=1000&after=${damaged - 500}`), 50302)
  expect(await (await daemon.fetch('/health')).json()).toEqual({ status: 'damaged' })
  expect(await daemon.metric('plantstore_storage_damaged')).toBe(1)
  expect(await daemon.metric('plantstore_storage_writable')).toBe(1)
  const events = daemon.events().filter(({ level }) => level === 'error')
  expect(events).toMatchObject([{ event: 'database-damaged' }])
  const { err, code } = await runProgram(['health'], {
    env: { PLANTSTORE_PORT: String(daemon.port) },
  })
  expect({ err: err.includes('is damaged; run "plantstore check"'), code }).toEqual({
    err: true,
    code: 0,
  })
  expect(await daemon.stop()).toBe(0)
})

test('a write that needs a damaged page fails alone in its commit', async () => {
  using folder = temporaryFolder()
  const { daemon, damaged } = await startDamaged(folder.file('plants.db'))
  await using _ = daemon

  const patch = (id: number) =>
    daemon.fetch(`/plants/${id}`, { method: 'PATCH', json: { tag: 'red' } })
  const [met, ...others] = await Promise.all([
    patch(damaged),
    patch(0),
    daemon.create(PLANTS),
    patch(PLANTS - 1),
  ])

  expect(await expectError(met as Response, 50302)).toBe(
    'a page of the database is damaged or cannot be read',
  )
  expect(others.map(({ status }) => status)).toEqual([200, 200, 200])
  expect(await (await daemon.fetch('/plants/0/history')).text()).toContain('red')
  expect(await daemon.metric('plantstore_storage_damaged')).toBe(1)
  // Each write is tried again: a trial, a second later, finds that the store can write.
  await Bun.sleep(1500)
  expect(await daemon.metric('plantstore_storage_writable')).toBe(1)
  expect((await patch(1)).status).toBe(200)
})

test.each([
  ['oldest', 0],
  ['newest', -1],
])('a damaged page of the %s changes stops neither a start nor a revocation', async (_, leaf) => {
  using folder = storeFolder()
  const { database } = folder
  const first = await folder.serve({ args: ['--keep-changes', '1d'] })
  await folder.run(['token', 'create', 'laptop'])
  await folder.fill(1000)
  await first.stop()
  const page = leavesOf(database, 'changes').at(leaf) ?? 0
  overwrite(database, (page - 1) * PAGE_BYTES, Buffer.alloc(PAGE_BYTES, 0xff))

  await using daemon = await folder.serve()

  expect((await daemon.fetch('/plants?limit=1000')).status).toBe(200)
  await expectError(await daemon.fetch('/plants/changes'), 50302)
  expect((await daemon.fetch('/plants/0')).status).toBe(200)
  const revoked = await folder.run(['token', 'revoke', 'laptop'])
  expect(revoked).toEqual({ out: 'revoked laptop\n', err: '', code: 0 })
})

test('an entry of the change log that cannot be parsed fails the requests that read it, and no others', async () => {
  using folder = storeFolder()
  const { database } = folder
  await using daemon = await folder.serve({ args: ['--keep-changes', '1d'] })
  for (const id of [1, 2, 3]) await daemon.create(id)
  using db = new Database(database)
  db.run(`UPDATE changes SET after = replace(after, '}', '{') WHERE number = 2`)

  for (let round = 0; round < 3; round++) {
    const met = await daemon.fetch('/plants/changes')
    expect(await expectError(met, 50302)).toBe(
      'a page of the database is damaged or cannot be read',
    )
    const others = await Promise.all([
      daemon.create(10 + round),
      daemon.fetch('/plants/2'),
      daemon.fetch('/plants/1/history'),
    ])
    expect(others.map(({ status }) => status)).toEqual([200, 200, 200])
  }
  expect(await (await daemon.fetch('/health')).json()).toEqual({ status: 'damaged' })
  expect(await folder.run(['changes'])).toMatchObject({
    code: 74,
    err: expect.stringMatching(/plants\.db is damaged \(.+\n$/),
  })
  const events = daemon.events().filter(({ level }) => level === 'error')
  expect(events).toMatchObject([{ event: 'database-damaged' }])
})

test('an export prints the plants before a damaged page', async () => {
  using folder = storeFolder()
  const { database } = folder
  await folder.fill(900)
  const { id: damaged } = damageLeaf(database)

  const { out, code } = await folder.run(['export'])

  const ids = out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).id)
  expect({ code, first: ids[0], count: ids.length }).toEqual({
    code: 74,
    first: 0,
    count: ids.at(-1) + 1,
  })
  expect(ids.at(-1)).toBeWithin(damaged - 200, damaged)
})
