// A far server: each request and answer is delayed.

import { expect, setDefaultTimeout, test } from 'bun:test'
import { startProxy } from '../../harness/cuttable'
import { PATIENCE_MS } from '../../harness/daemon'
import { describeServer } from '../../harness/own-server'
import { type Logged, newDatabase, openAt } from '../../harness/postgres-store'
import { allPlants, range } from '../../harness/tested-store'

setDefaultTimeout(2 * PATIENCE_MS)

describeServer('a store in %s', (startServer) => {
  // Milliseconds each way; connecting a session takes eight round trips.
  test.concurrent.each([100, 250])('keeps its connections over %i ms each way', async (delay) => {
    const server = await startServer()
    const url = await newDatabase(server)
    await (await openAt(url)).close()
    using proxy = startProxy(server.port, delay)
    const events: Logged[] = []
    const store = await openAt(
      `${url.replace(/:\d+\//, `:${proxy.port}/`)}?connect_timeout=10`,
      events,
      1e9,
    )
    const end = performance.now() + 8000
    let next = 1n
    while (performance.now() < end) {
      await store.createPlant({ id: next, name: 'plant' })
      await store.patchPlant(next, { tag: 'far' })
      await store.createPlants(range(Number(next) + 1000, 2))
      expect(await store.readPlant(next)).toEqual({ id: next, name: 'plant', tag: 'far' })
      await store.probe()
      next += 10n
    }

    expect(events.map(({ event }) => event)).toEqual([])
    expect((await allPlants(store)).length).toBeGreaterThan(3)
    await store.close()
  })
})
