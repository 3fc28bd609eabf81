// The daemon checks a damaged database from time to time, until it is whole.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { importLines, lines } from '../../harness/commands'
import { PATIENCE_MS, startDaemon, temporaryFolder } from '../../harness/daemon'
import { damageLeaf } from '../../harness/damage'

setDefaultTimeout(2 * PATIENCE_MS)

test('reports damage until the daemon finds the file whole', async () => {
  using folder = temporaryFolder()
  const database = folder.file('plants.db')
  await importLines(database, lines(0, 3000))
  const { id, repair } = damageLeaf(database)
  await using daemon = await startDaemon({ database })
  expect((await daemon.fetch(`/plants/${id}`)).status).toBe(503)
  await Bun.sleep(35_000)
  expect(await (await daemon.fetch('/health')).json()).toEqual({ status: 'damaged' })
  expect(daemon.events().some(({ event }) => event === 'database-whole')).toBe(false)

  repair()
  await daemon.event('database-whole', 45_000)

  expect(await (await daemon.fetch('/health')).json()).toEqual({ status: 'ok' })
  await daemon.create('{"id":5000,"name":"Rose"}')
  expect((await daemon.fetch(`/plants/${id}`)).status).toBe(200)
  expect(await daemon.stop()).toBe(0)
})
