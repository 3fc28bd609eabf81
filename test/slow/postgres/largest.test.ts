// The largest batches of one commit: on a suitable network they end long before their deadline.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { connect, createServer, type Socket } from 'node:net'
import { LIMITS } from '../../../src/engine/commit/plant-writes'
import { freePort } from '../../../tools/free-port'
import { PATIENCE_MS } from '../../harness/daemon'
import { describeServers } from '../../harness/own-server'
import { type Logged, newDatabase, openAt } from '../../harness/postgres-store'

setDefaultTimeout(PATIENCE_MS)

const BYTES_PER_MS = (200 * 1_000_000) / 8 / 1000
/** Delay each way. */
const DELAY_MS = 4

/** Delays bytes, and limits their rate. */
function pass(from: Socket, to: Socket): void {
  const underWay: Buffer[] = []
  let freeAt = 0
  from.on('data', (bytes) => {
    const now = performance.now()
    freeAt = Math.max(freeAt, now) + bytes.length / BYTES_PER_MS
    underWay.push(Buffer.from(bytes))
    // Timers are rounded to milliseconds, so that a later one may end first: each sends the oldest bytes.
    setTimeout(() => to.write(underWay.shift() ?? ''), freeAt - now + DELAY_MS)
  })
  from.on('close', () => to.destroy())
  from.on('error', () => {})
}

/** A port of a far server. */
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
/** Three bytes per character: the queue is limited in characters. */
const CHARACTERS = Math.floor(LIMITS.queuedBytes / CHANGES) - 110

/** Distinct plants that fill a batch. */
const PLANTS = (round: number) =>
  Array.from({ length: CHANGES }, (_, id) => ({
    id: BigInt(id),
    name: '漢'.repeat(CHARACTERS),
    tag: `${round}/${id}`,
  }))

/** The deadline is absolute: a busy machine may need all of it for its disk. */
const ATTEMPTS = { retry: 2 }

describeServers('a store in %s', (startServer) => {
  test(
    'confirms the largest batches over 200 Mbit/s and 8 ms of round trip',
    async () => {
      const url = await newDatabase(await startServer())
      using network = startNetwork(Number(new URL(url).port))
      const events: Logged[] = []
      const store = await openAt(url.replace(/:\d+\//, `:${network.port}/`), events)

      await Promise.all(PLANTS(1).map((plant) => store.createPlant(plant)))
      await Promise.all(PLANTS(2).map((plant) => store.replacePlant(plant)))

      expect(events).toEqual([])
      expect(store.stats().server).toMatchObject({ inDoubtMade: 0, inDoubtNotMade: 0 })
      expect((await store.readPlant(7n))?.tag).toBe('2/7')
      await store.close()
    },
    ATTEMPTS,
  )
})
