// One damaged page fails what needs it, and nothing else. The daemon's own check: test/slow/long/damage.test.ts.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { importLines, lines } from '../../harness/commands'
import {
  type Daemon,
  PATIENCE_MS,
  runProgram,
  startDaemon,
  temporaryFolder,
} from '../../harness/daemon'
import { damageLeaf } from '../../harness/damage'
import { expectError } from '../../harness/plants'

setDefaultTimeout(PATIENCE_MS)

const PLANTS = 3000

async function startDamaged(database: string): Promise<{ daemon: Daemon; damaged: number }> {
  await importLines(database, lines(0, PLANTS))
  const { id: damaged } = damageLeaf(database)
  return { daemon: await startDaemon({ database, args: ['--keep-changes', '1d'] }), damaged }
}

const metric = async (daemon: Daemon, name: string): Promise<string | undefined> =>
  new RegExp(`^plantstore_storage_${name} (.)$`, 'm').exec(
    await (await daemon.fetch('/metrics')).text(),
  )?.[1]

test('a damaged page fails the requests that need it, and no others', async () => {
  using folder = temporaryFolder()
  const { daemon, damaged } = await startDamaged(folder.file('plants.db'))
  await using _ = daemon
  expect(await (await daemon.fetch('/health')).json()).toEqual({ status: 'ok' })
  expect(await metric(daemon, 'damaged')).toBe('0')

  for (let round = 0; round < 12; round++) {
    const met = await daemon.fetch(`/plants/${damaged}`)
    expect(await expectError(met, 50302)).toBe('the database is damaged')
    const others = await Promise.all([
      daemon.create(`{"id":${PLANTS + round},"name":"Rose"}`),
      daemon.fetch('/plants/0'),
      daemon.fetch('/plants?limit=5'),
      daemon.fetch('/health'),
    ])
    expect(others.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    await Bun.sleep(50)
  }

  await expectError(await daemon.fetch(`/plants?limit=1000&after=${damaged - 500}`), 50302)
  expect(await (await daemon.fetch('/health')).json()).toEqual({ status: 'damaged' })
  expect(await metric(daemon, 'damaged')).toBe('1')
  expect(await metric(daemon, 'writable')).toBe('1')
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
    daemon.create(`{"id":${PLANTS},"name":"Rose"}`),
    patch(PLANTS - 1),
  ])

  expect(await expectError(met as Response, 50302)).toBe('the database is damaged')
  expect(others.map(({ status }) => status)).toEqual([200, 200, 200])
  expect(await (await daemon.fetch('/plants/0/history')).text()).toContain('red')
  expect(await metric(daemon, 'damaged')).toBe('1')
  // Each write is tried again: a trial, a second later, finds that the store can write.
  await Bun.sleep(1500)
  expect(await metric(daemon, 'writable')).toBe('1')
  expect((await patch(1)).status).toBe(200)
})
