// The largest batches that share a commit: they end long before their deadline, on a network that is fit for them.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { connect, createServer, type Socket } from 'node:net'
import { LIMITS } from '../../../src/engine/commit/plant-writes'
import { freePort } from '../../../tools/free-port'
import { PATIENCE_MS } from '../../harness/daemon'
import { describeServers } from '../../harness/own-server'
import { type Logged, newDatabase, openAt } from '../../harness/postgres-store'

setDefaultTimeout(PATIENCE_MS)

const BYTES_PER_MS = (200 * 1_000_000) / 8 / 1000
/** Each way. */
const DELAY_MS = 4

/** Passes bytes on, late and no faster than the network. */
function pass(from: Socket, to: Socket): void {
  const underWay: Buffer[] = []
  let freeAt = 0
  from.on('data', (bytes) => {
    const now = performance.now()
    freeAt = Math.max(freeAt, now) + bytes.length / BYTES_PER_MS
    underWay.push(Buffer.from(bytes))
    // Timers are cut to milliseconds, so that a later one may end first: each passes on what came first.
    setTimeout(() => to.write(underWay.shift() ?? ''), freeAt - now + DELAY_MS)
  })
  from.on('close', () => to.destroy())
  from.on('error', () => {})
}

/** A port of a server that is far. */
function startNetwork(to: number) {
  const port = freePort()
  const server = createServer((client) => {
    const upstream = connect(to, '127.0.0.1')
    pass(client, upstream)
    pass(upstream, client)
  }).listen(port, '127.0.0.1')
  return { port, [Symbol.dispose]: () => server.close() }
}

const CHANGES = 4000
/** Of three bytes each: what may wait is counted in characters. */
const CHARACTERS = Math.floor(LIMITS.queuedBytes / CHANGES) - 110

/** Plants that fill a batch; no two are alike. */
const plants = (round: number) =>
  Array.from({ length: CHANGES }, (_, id) => ({
    id: BigInt(id),
    name: '漢'.repeat(CHARACTERS),
    tag: `${round}/${id}`,
  }))

/** The deadline is absolute: a machine that is busy with something else may need it all for its own disk. */
const ATTEMPTS = { retry: 2 }

describeServers('%s', (started) => {
  test(
    'confirms the largest batches over 200 Mbit/s and 8 ms of round trip',
    async () => {
      const url = await newDatabase(await started())
      using network = startNetwork(Number(new URL(url).port))
      const events: Logged[] = []
      const store = await openAt(url.replace(/:\d+\//, `:${network.port}/`), events)

      await Promise.all(plants(1).map((plant) => store.createPlant(plant)))
      await Promise.all(plants(2).map((plant) => store.replacePlant(plant)))

      expect(events).toEqual([])
      expect(store.stats().server).toMatchObject({ inDoubtMade: 0, inDoubtNotMade: 0 })
      expect((await store.readPlant(7n))?.tag).toBe('2/7')
      await store.close()
    },
    ATTEMPTS,
  )
})
