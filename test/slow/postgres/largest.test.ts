// The largest batches of one commit: a suitable network carries them long before their deadline.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { connect, createServer, type Socket } from 'node:net'
import { LIMITS } from '../../../src/engine/commit/plant-writes'
import { SILENT_MS } from '../../../src/engine/postgres/connection/connection'
import { freePort } from '../../../tools/free-port'
import { PATIENCE_MS } from '../../harness/daemon'
import { describeServers } from '../../harness/own-server'
import { newDatabase, openAt } from '../../harness/postgres-store'

setDefaultTimeout(2 * PATIENCE_MS)

const BYTES_PER_MS = (200 * 1_000_000) / 8 / 1000
const ROUND_TRIP_MS = 8

/** What a connection has carried. A turn is a request after an answer. */
type Carried = { bytes: number; turns: number }

/** Counts what each connection carries: a clock would count the disk and the other programs of the machine, too. */
function startNetwork(to: number) {
  const port = freePort()
  const connections: Carried[] = []
  const server = createServer((client) => {
    const carried: Carried = { bytes: 0, turns: 0 }
    connections.push(carried)
    const upstream = connect(to, '127.0.0.1')
    let isAnswered = true
    const pass = (from: Socket, onto: Socket, isAnswer: boolean) => {
      from.on('data', (bytes) => {
        carried.bytes += bytes.length
        if (isAnswered && !isAnswer) carried.turns += 1
        isAnswered = isAnswer
      })
      from.pipe(onto)
      from.on('close', () => onto.destroy())
      from.on('error', () => {})
    }
    pass(client, upstream, false)
    pass(upstream, client, true)
  }).listen(port, '127.0.0.1')
  return {
    port,
    /** The milliseconds that the busiest connection needs for what was carried since the last call. */
    neededMs(): number {
      const each = connections.map(
        ({ bytes, turns }) => bytes / BYTES_PER_MS + turns * ROUND_TRIP_MS,
      )
      for (const carried of connections) Object.assign(carried, { bytes: 0, turns: 0 })
      return Math.max(...each)
    },
    [Symbol.dispose]: () => server.close(),
  }
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

describeServers('a store in %s', (startServer) => {
  test('sends the largest batches in less than half their deadline over 200 Mbit/s and 8 ms of round trip', async () => {
    const url = await newDatabase(await startServer())
    using network = startNetwork(Number(new URL(url).port))
    const store = await openAt(url.replace(/:\d+\//, `:${network.port}/`))
    network.neededMs()

    await Promise.all(PLANTS(1).map((plant) => store.createPlant(plant)))
    const createdMs = network.neededMs()
    await Promise.all(PLANTS(2).map((plant) => store.replacePlant(plant)))
    const replacedMs = network.neededMs()

    const leastMs = (3 * CHANGES * CHARACTERS) / BYTES_PER_MS
    expect(createdMs).toBeWithin(leastMs, SILENT_MS / 2)
    expect(replacedMs).toBeWithin(leastMs, SILENT_MS / 2)
    expect((await store.readPlant(7n))?.tag).toBe('2/7')
    await store.close()
  })
})
