// Long reads beside everything else that the event loop serves.
import { expect, test } from 'bun:test'
import { createTurns } from '../../../src/engine/sqlite/reader'

const ignore = async () => {}
const statusOf = (reading: Promise<unknown>) =>
  reading.then(
    () => 200,
    (error) => error.error,
  )

/** Counts the turns of the event loop until it is stopped. */
function countTurns() {
  let turns = 0
  let isStopped = false
  const count = () => {
    turns += 1
    if (!isStopped) setImmediate(count)
  }
  setImmediate(count)
  return {
    now: () => turns,
    stop: () => {
      isStopped = true
    },
  }
}

test('a turn of the event loop runs one long read, however many wait', async () => {
  const inTurn = createTurns()
  const turns = countTurns()
  const order: number[] = []
  const turnOf: number[] = []
  const read = (n: number) =>
    inTurn(async () => {
      order.push(n)
      turnOf.push(turns.now())
    })
  const all = Array.from({ length: 100 }, (_, n) => read(n))
  await Promise.all(all)
  turns.stop()

  expect(order).toEqual(order.toSorted((a, b) => a - b))
  expect(new Set(turnOf).size).toBe(100)
})

test('reads beyond a queue of a thousand are refused, and the queue continues', async () => {
  const inTurn = createTurns()
  let reads = 0
  const first = inTurn(ignore)
  const all = Array.from({ length: 1200 }, () =>
    statusOf(
      inTurn(async () => {
        reads += 1
      }),
    ),
  )

  const ended = await Promise.all(all)
  await first

  // The first is one of the thousand.
  expect(ended.filter((status) => status === 200)).toHaveLength(999)
  expect(ended.filter((status) => status === 'busy')).toHaveLength(201)
  expect(reads).toBe(999)
  expect(await inTurn(async () => 'read')).toBe('read')
})

test('nothing is read for a disconnected client', async () => {
  const inTurn = createTurns()
  const client = new AbortController()
  let reads = 0
  const read = async () => {
    reads += 1
  }
  const gone = Array.from({ length: 1000 }, () => statusOf(inTurn(read, client.signal)))
  client.abort()

  expect(new Set(await Promise.all(gone))).toEqual(new Set(['busy']))
  await inTurn(read)
  expect(await statusOf(inTurn(read, client.signal))).toBe('busy')
  expect(reads).toBe(1)
})

test('a read that fails does not stop the next', async () => {
  const inTurn = createTurns()
  const failing = inTurn(() => Promise.reject(new Error('damaged')))
  const next = inTurn(async () => 'read')

  await expect(failing).rejects.toThrow('damaged')
  expect(await next).toBe('read')
})
