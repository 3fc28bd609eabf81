// A far server: each request and answer is delayed.

import { expect, setDefaultTimeout } from 'bun:test'
import { startProxy } from '../../harness/cuttable'
import { PATIENCE_MS } from '../../harness/daemon'
import { onServers } from '../../harness/own-server'
import { atPort, type Logged, newDatabase, openAt } from '../../harness/postgres-store'
import { allPlants, range } from '../../harness/tested-store'

setDefaultTimeout(2 * PATIENCE_MS)

const test = onServers('a store in %s', { isNewest: true })

// Milliseconds each way; connecting a session takes eight round trips.
test.concurrentEach([[100], [250]])(
  'keeps its connections over %i ms each way',
  async (server, delay) => {
    const url = await newDatabase(server)
    await (await openAt(url)).close()
    using proxy = startProxy(server.port, { delay })
    const events: Logged[] = []
    const store = await openAt(`${atPort(url, proxy.port)}?connect_timeout=10`, events, 1e9)
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
  },
)
