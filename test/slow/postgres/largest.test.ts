// The largest batches of one commit: a suitable network carries them long before their deadline.
import { expect, setDefaultTimeout } from 'bun:test'
import { LIMITS } from '../../../src/engine/commit/plant-writes'
import { SILENT_MS } from '../../../src/engine/postgres/connection/connection'
import { startProxy } from '../../harness/cuttable'
import { PATIENCE_MS } from '../../harness/daemon'
import { onServers } from '../../harness/own-server'
import { atPort, newDatabase, openAt } from '../../harness/postgres-store'

setDefaultTimeout(2 * PATIENCE_MS)

const BYTES_PER_MS = (200 * 1_000_000) / 8 / 1000
const ROUND_TRIP_MS = 8
const START = { bytes: 0, turns: 0, isAnswered: true }

/**
 * Counts what each connection carries: a clock would count the disk and the other programs of the machine, too. A turn
 * is a request after an answer.
 */
function startNetwork(to: number) {
  const carried = new Map<object, { bytes: number; turns: number; isAnswered: boolean }>()
  const proxy = startProxy(to, {
    watch(connection, way, more) {
      const { bytes, turns, isAnswered } = carried.get(connection) ?? START
      const isTurn = isAnswered && way === 'requests'
      carried.set(connection, {
        bytes: bytes + more,
        turns: turns + Number(isTurn),
        isAnswered: way === 'answers',
      })
    },
  })
  return {
    ...proxy,
    /** The milliseconds that the busiest connection needs for the bytes and round trips since the last call. */
    neededMs(): number {
      const each = [...carried.values()].map(
        ({ bytes, turns }) => bytes / BYTES_PER_MS + turns * ROUND_TRIP_MS,
      )
      carried.clear()
      return Math.max(...each)
    },
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

const test = onServers('a store in %s')

test('sends the largest batches in less than half their deadline over 200 Mbit/s and 8 ms of round trip', async (server) => {
  const url = await newDatabase(server)
  using network = startNetwork(Number(new URL(url).port))
  const store = await openAt(atPort(url, network.port))
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
