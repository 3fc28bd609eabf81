import { expect, test } from 'bun:test'
import { GroupCommit } from '../../src/engine/commit/group-commit'
import { DONE, type Outcome } from '../../src/engine/commit/write'
import { createLedger, createTestClock, ROOMY, turns } from '../harness/ledger'

test('writes of one turn of the event loop are committed together, in their order', async () => {
  const { submit, batches, end } = createLedger()
  const all = Promise.all(['a', 'b', 'c'].map((change) => submit(change)))
  await turns()

  expect(batches).toEqual([['a', 'b', 'c']])
  await end()
  await all
})

test('a write is acknowledged only after its commit', async () => {
  const { submit, end } = createLedger()
  let isAnswered = false
  const change = submit('a').then(() => {
    isAnswered = true
  })
  await turns()
  expect(isAnswered).toBeFalse()

  await end()
  await change
  expect(isAnswered).toBeTrue()
})

test('writes that arrive during a commit join the next one', async () => {
  const { group, submit, batches, end } = createLedger()
  const first = submit('a')
  await turns()
  const rest = [submit('b'), submit('c')]
  await turns()
  rest.push(submit('d'))
  expect(batches).toEqual([['a']])
  expect(group.queueLength).toBe(3)

  await end()
  await first
  await end()
  await Promise.all(rest)
  expect(batches).toEqual([['a'], ['b', 'c', 'd']])
  expect(group.queueLength).toBe(0)
})

test('a commit is acknowledged first, so that returning clients join the next one', async () => {
  const { submit, batches, end } = createLedger()
  const first = submit('a')
  await turns()
  const second = submit('b')
  const third = first.then(() => submit('a2'))
  await end()
  await turns()

  expect(batches).toEqual([['a'], ['b', 'a2']])
  await end()
  await Promise.all([second, third])
})

test('a full batch is committed at once, however many writes are expected', async () => {
  const { submit, batches, advance, end } = createLedger({ batchWrites: 2 })
  const all = Promise.all(['a', 'b', 'c', 'd', 'e'].map((change) => submit(change)))
  await turns()
  advance(20)
  await end()

  expect(batches).toEqual([
    ['a', 'b'],
    ['c', 'd'],
  ])
  await end()
  await end()
  await all
})

test('a lone write is not delayed', async () => {
  const { submit, batches, advance, end } = createLedger()
  for (const change of ['a', 'b', 'c']) {
    const answer = submit(change)
    await turns()
    expect(batches.at(-1)).toEqual([change])
    advance(20)
    await end()
    await answer
  }
})

test('the next batch waits on a slow disk until the acknowledged clients are back', async () => {
  const { submit, batches, advance, end } = createLedger()
  const first = [submit('a'), submit('b')]
  await turns()
  // Half of this would be longer than the longest hold.
  advance(600)
  await end()
  await Promise.all(first)

  const second = [submit('a2')]
  await turns(50)
  expect(batches).toHaveLength(1)
  second.push(submit('b2'))
  await turns()
  expect(batches).toEqual([
    ['a', 'b'],
    ['a2', 'b2'],
  ])
  await end()
  await Promise.all(second)
})

test('the wait ends once, when all clients are back', async () => {
  const { submit, batches, advance, end } = createLedger()
  const all = [submit('a'), submit('b')]
  await turns()
  advance(200)
  await end()
  all.push(submit('a2'), submit('b2'))
  await turns()
  all.push(submit('c'))
  advance(300)
  await turns(50)

  // The commit of the second round has not ended.
  expect(batches).toEqual([
    ['a', 'b'],
    ['a2', 'b2'],
  ])
  await end()
  await end()
  await Promise.all(all)
})

/** For how long a write is held that comes alone after a commit of two which took so long. Milliseconds. */
async function holdAfter(commit: number): Promise<number> {
  const { submit, batches, advance, clock, run, end } = createLedger()
  const first = [submit('a'), submit('b')]
  await turns()
  advance(commit)
  await end()
  await Promise.all(first)

  const ended = clock.now()
  const lone = submit('c')
  await run(() => batches.length < 2)
  const held = clock.now() - ended
  await end()
  await lone
  return held
}

test('the wait lasts half the time of a commit if the other clients do not return', async () => {
  const held = await holdAfter(200)
  expect(held).toBeGreaterThanOrEqual(100)
  expect(held).toBeLessThan(102)
})

/** A group whose commits take so many milliseconds, and the sizes of its batches. */
function commitsOf(commitMs: number) {
  const time = createTestClock()
  const sizes: number[] = []
  const group = new GroupCommit<string>(
    async (batch) => {
      sizes.push(batch.length)
      await time.sleep(commitMs)
      return batch.map(() => DONE)
    },
    ROOMY,
    time.clock,
  )
  /** Lets time pass until these clients are done. */
  async function finish(clients: readonly Promise<void>[]): Promise<void> {
    let isDone = false
    const all = Promise.all(clients).then(() => {
      isDone = true
    })
    await time.run(() => !isDone)
    await all
  }
  return { ...time, group, sizes, finish }
}

test('the next batch waits on a quick disk too, so that half batches do not alternate', async () => {
  const { sizes, group, sleep, finish } = commitsOf(1)
  const client = async (pause: number) => {
    await sleep(pause)
    for (let n = 0; n < 100; n++) await group.submit('a', 1)
  }
  // One that is out of step at the start.
  await finish([client(2.5), ...Array.from({ length: 7 }, () => client(0))])

  // Half batches would be 4 long.
  expect(sizes.length).toBeLessThan(150)
})

const CLIENTS = 64

/**
 * Clients that each take `serveMs` of the event loop before they send the next write. Returns the sizes of the batches.
 */
async function load(
  writes: number,
  commitMs: number,
  serveMs: number,
  clients = CLIENTS,
): Promise<number[]> {
  const { sizes, group, advance, finish } = commitsOf(commitMs)
  const client = async () => {
    for (let n = 0; n < writes; n++) {
      await group.submit('a', 1)
      advance(serveMs)
    }
  }
  await finish(Array.from({ length: clients }, client))
  return sizes
}

const countWhole = (sizes: number[], clients = CLIENTS) =>
  sizes.filter((size) => size === clients).length

test('halves of a round alternate if serving takes longer than committing', async () => {
  const sizes = await load(40, 2, 0.2)
  expect(countWhole(sizes)).toBeLessThan(20)
})

test('a round of fewer than 32 is committed whole, however long it takes to serve', async () => {
  const sizes = await load(40, 2, 0.4, 31)
  expect(countWhole(sizes, 31)).toBeGreaterThan(30)
})

test('halves of a round of 32 alternate', async () => {
  const sizes = await load(40, 2, 0.4, 32)
  expect(countWhole(sizes, 32)).toBeLessThan(20)
})

test('a round is committed whole if committing takes longer than serving', async () => {
  const sizes = await load(20, 50, 0)
  expect(countWhole(sizes)).toBeGreaterThan(10)
})

test('a burst after a pause is committed whole', async () => {
  const { group, submit, batches, run, advance, end } = createLedger()
  for (let burst = 1; burst <= 3; burst++) {
    const changes = Promise.all(Array.from({ length: CLIENTS }, () => submit('a')))
    await run(() => group.queueLength > 0)
    await end()
    await changes
    expect(batches).toHaveLength(burst)
    advance(100)
  }
})

test('the wait after a quick commit is only some turns of the event loop', async () => {
  const { submit, batches, end } = createLedger()
  const first = [submit('a'), submit('b')]
  await turns()
  await end()
  await Promise.all(first)

  const lone = submit('c')
  let waited = 0
  for (; batches.length < 2 && waited < 100; waited++) await turns(1)
  await end()
  await lone
  expect(waited).toBeGreaterThan(10)
  expect(waited).toBeLessThan(30)
})

test('the wait after a commit that stalled is short', async () => {
  expect(await holdAfter(1200)).toBeLessThan(252)
})

test('one refused write does not affect others of its batch', async () => {
  const { submit, end } = createLedger()
  const changes = Promise.allSettled([submit('a'), submit('no'), submit('c')])
  await turns()
  await end()

  const results = await changes
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(results[1]).toHaveProperty('reason.error', 'taken')
  expect(results[1]).toHaveProperty('reason.message', 'no')
})

test('every write of a failed batch fails, and the next is committed', async () => {
  const { submit, batches, run, end } = createLedger()
  const changes = Promise.allSettled([submit('a'), submit('b')])
  await turns()
  const next = submit('c')
  await end(new Error('the disk is gone'))

  for (const result of await changes) {
    expect(result).toHaveProperty('reason.message', 'the disk is gone')
  }
  await run(() => batches.length < 2)
  await end()
  await next
  expect(batches).toEqual([['a', 'b'], ['c']])
})

test('a batch in doubt is acknowledged once it is settled, and others are committed meanwhile', async () => {
  const settled = Promise.withResolvers<readonly Outcome[]>()
  const commits = [{ inDoubt: settled.promise }, [DONE]]
  const group = new GroupCommit<string>(async () => commits.shift() ?? [], ROOMY)
  const doubtful = Promise.allSettled([group.submit('a', 1), group.submit('b', 1)])
  let isAnswered = false
  doubtful.then(() => {
    isAnswered = true
  })
  await turns()
  await group.submit('c', 1)
  expect(isAnswered).toBeFalse()

  settled.resolve([DONE, { error: 'storage failed' }])
  const [a, b] = await doubtful
  expect(a.status).toBe('fulfilled')
  expect(b).toHaveProperty('reason.error', 'storage failed')
})

test('no commit is made if every client has gone', async () => {
  const batches: string[][] = []
  const group = new GroupCommit<string>(async (batch) => {
    batches.push(batch)
    return batch.map(() => DONE)
  }, ROOMY)
  const client = new AbortController()
  const submitted = group.submit('a', 1, client.signal)
  client.abort()

  await expect(submitted).rejects.toHaveProperty('error', 'busy')
  await group.whenIdle()
  expect(batches).toEqual([])
})

test('a write without an outcome fails with 50001', async () => {
  const group = new GroupCommit<string>(async (batch) => batch.slice(1).map(() => DONE), ROOMY)
  const results = await Promise.allSettled([group.submit('a', 1), group.submit('b', 1)])

  expect(results[0]?.status).toBe('fulfilled')
  expect(results[1]).toHaveProperty('reason.error', 'unexpected')
})
