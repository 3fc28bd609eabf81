// Long reads beside everything else that the event loop serves.
import { expect, test } from 'bun:test'
import { createLongReads } from '../../../src/engine/sqlite/reading/long-reads'

const READ_MS = 2

/** Long reads on a clock that only {@link block} advances. */
function create() {
  let now = 0
  const block = async () => {
    now += READ_MS
  }
  return { readLong: createLongReads(() => now), block }
}

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

test('a turn of the event loop runs few long reads, however many wait; the first waits for none', async () => {
  const { readLong, block } = create()
  const turns = countTurns()
  const order: number[] = []
  const turnOf: number[] = []
  const read = (n: number) =>
    readLong(async () => {
      order.push(n)
      turnOf.push(turns.now())
      await block()
    })
  const all = Array.from({ length: 100 }, (_, n) => read(n))
  expect(order).toEqual([0, 1])
  await Promise.all(all)
  turns.stop()

  expect(order).toEqual(order.toSorted((a, b) => a - b))
  const perTurn = [...Map.groupBy(turnOf, (turn) => turn).values()].map(({ length }) => length)
  expect(Math.max(...perTurn)).toBe(2)
})

test("the use of a read's result counts as its time", async () => {
  const { readLong, block } = create()
  const turns = countTurns()
  const turnOf: number[] = []
  const read = async () => {
    await readLong(async () => turnOf.push(turns.now()))
    await block()
  }
  const first = [readLong(block), readLong(block)]
  await Promise.all(Array.from({ length: 60 }, read))
  await Promise.all(first)
  turns.stop()

  const perTurn = [...Map.groupBy(turnOf, (turn) => turn).values()].map(({ length }) => length)
  expect(Math.max(...perTurn)).toBe(2)
})

test('refuses reads beyond a queue of a thousand, and continues with those', async () => {
  const { readLong, block } = create()
  let reads = 0
  const first = [readLong(block), readLong(block), readLong(block)]
  const all = Array.from({ length: 1200 }, () =>
    readLong(async () => {
      reads += 1
    }).then(
      () => 200,
      (error) => error.error,
    ),
  )

  const ended = await Promise.all(all)
  await Promise.all(first)

  expect(ended.filter((status) => status === 200)).toHaveLength(999)
  expect(ended.filter((status) => status === 'busy')).toHaveLength(201)
  expect(reads).toBe(999)
})

test('skips a disconnected client, and makes room for another', async () => {
  const { readLong, block } = create()
  const client = new AbortController()
  let reads = 0
  const read = async () => {
    reads += 1
  }
  const first = [readLong(block), readLong(block), readLong(block)]
  const gone = Array.from({ length: 999 }, () =>
    readLong(read, client.signal).catch((error) => error.error),
  )
  client.abort()

  await readLong(read)
  await Promise.all(first)

  expect(reads).toBe(1)
  expect(new Set(await Promise.all(gone))).toEqual(new Set(['busy']))
})
