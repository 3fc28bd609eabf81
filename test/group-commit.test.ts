import { expect, test } from 'bun:test'
import { GroupCommit } from '../src/engine/group-commit'
import { createLedger, ROOMY, turns } from './harness/ledger'

test('lets changes of one turn share a commit, in their order', async () => {
  const { submit, batches, measured, end } = createLedger()
  const all = Promise.all(['a', 'b', 'c'].map((change) => submit(change)))
  await turns()

  expect(batches).toEqual([['a', 'b', 'c']])
  await end()
  await all
  expect(measured).toEqual([3])
})

test('answers a change when its commit has ended, and not before', async () => {
  const { submit, end } = createLedger()
  let answered = false
  const change = submit('a').then(() => {
    answered = true
  })
  await turns()
  expect(answered).toBeFalse()

  await end()
  await change
  expect(answered).toBeTrue()
})

test('lets changes that come in during a commit share the next', async () => {
  const { group, submit, batches, end } = createLedger()
  const first = submit('a')
  await turns()
  const rest = [submit('b'), submit('c')]
  await turns()
  rest.push(submit('d'))
  expect(batches).toEqual([['a']])
  expect(group.queued).toBe(3)

  await end()
  await first
  await end()
  await Promise.all(rest)
  expect(batches).toEqual([['a'], ['b', 'c', 'd']])
  expect(group.queued).toBe(0)
})

test('starts the next commit of many before it answers the last', async () => {
  const { submit, batches, end } = createLedger()
  const first = submit('a')
  await turns()
  const rest = Array.from({ length: 100 }, (_, index) => submit(`b${index}`))
  let committing = 0
  const answered = first.then(() => {
    committing = batches.length
  })
  await end()
  await answered

  expect(committing).toBe(2)
  expect(batches[1]).toHaveLength(100)
  await end()
  await Promise.all(rest)
})

test('does not hold a lone change', async () => {
  const { submit, batches, end } = createLedger()
  for (const change of ['a', 'b', 'c']) {
    const answer = submit(change)
    await turns()
    expect(batches.at(-1)).toEqual([change])
    await Bun.sleep(20)
    await end()
    await answer
  }
})

test('holds the next commit for those who were just answered', async () => {
  const { submit, batches, end } = createLedger()
  const first = [submit('a'), submit('b')]
  await turns()
  // Half of this would be longer than the longest hold.
  await Bun.sleep(1200)
  await end()
  await Promise.all(first)

  const second = [submit('a2')]
  await turns()
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

const turn = () => new Promise((resolve) => setImmediate(resolve))

test('waits for those who were just answered as long as each turn brings some of them', async () => {
  const { submit, batches, end } = createLedger()
  const first = ['a', 'b', 'c', 'd'].map((change) => submit(change))
  await turns()
  await end()
  await Promise.all(first)

  const second = [submit('a2')]
  await turn()
  second.push(submit('b2'))
  await turn()
  second.push(submit('c2'))
  await turns()
  expect(batches.at(-1)).toEqual(['a2', 'b2', 'c2'])
  await end()
  await Promise.all(second)
})

/** How long a change is held that comes alone after a commit of two, beside how long that took. Milliseconds. */
async function holdAfter(commit: number): Promise<{ took: number; held: number }> {
  const { submit, batches, end } = createLedger()
  const first = [submit('a'), submit('b')]
  await turns()
  const started = performance.now()
  await Bun.sleep(commit)
  await end()
  const took = performance.now() - started
  await Promise.all(first)

  const ended = performance.now()
  const lone = submit('c')
  while (batches.length < 2) await Bun.sleep(1)
  const held = performance.now() - ended
  await end()
  await lone
  return { took, held }
}

test('holds no longer than a part of a commit for those who do not come back', async () => {
  const { took, held } = await holdAfter(200)
  expect(held).toBeLessThan(took)
})

test('holds for a moment only after a commit that was stalled', async () => {
  const { took, held } = await holdAfter(2000)
  expect(held).toBeLessThan(took / 3)
})

test('tells of the commits that were made, and of no others', async () => {
  const told: number[] = []
  const answers: (() => Promise<null[]>)[] = [
    () => Promise.reject(new Error('the disk')),
    () => Promise.resolve([null, null]),
  ]
  const commit = () => answers.shift()?.() ?? Promise.resolve([])
  const limits = { queuedChanges: 100, queuedBytes: 100, batchChanges: 100 }
  const changes = new GroupCommit<string>(commit, limits, (count) => told.push(count))

  await Promise.allSettled([changes.submit('a', 1)])
  await Promise.allSettled([changes.submit('gone', 1, AbortSignal.abort())])
  await Promise.all([changes.submit('b', 1), changes.submit('c', 1)])

  expect(told).toEqual([2])
})

test('holds for nobody where there are so many that a commit takes less time than they do', async () => {
  const { submit, batches, end } = createLedger({ queuedChanges: 20_000, batchChanges: 20_000 })
  const first = Array.from({ length: 20_000 }, (_, index) => submit(`a${index}`))
  await turns()
  await Bun.sleep(100)
  await end()
  await Promise.all(first)

  const second = submit('b')
  await turns()
  expect(batches.at(-1)).toEqual(['b'])
  await end()
  await second
})

test('refuses one change of a batch alone', async () => {
  const { submit, end } = createLedger()
  const changes = Promise.allSettled([submit('a'), submit('no'), submit('c')])
  await turns()
  await end()

  const results = await changes
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(results[1]).toHaveProperty('reason.error', 40902)
  expect(results[1]).toHaveProperty('reason.message', 'no')
})

test('refuses all of a batch that fails whole, and goes on', async () => {
  const { submit, batches, end } = createLedger()
  const changes = Promise.allSettled([submit('a'), submit('b')])
  await turns()
  const next = submit('c')
  await end(new Error('the disk is gone'))

  for (const result of await changes) {
    expect(result).toHaveProperty('reason.message', 'the disk is gone')
  }
  while (batches.length < 2) await Bun.sleep(1)
  await end()
  await next
  expect(batches).toEqual([['a', 'b'], ['c']])
})

test('takes a change without an outcome for refused', async () => {
  const group = new GroupCommit<string>(async (batch) => batch.slice(1).map(() => null), ROOMY)
  const results = await Promise.allSettled([group.submit('a', 1), group.submit('b', 1)])

  expect(results[0]?.status).toBe('fulfilled')
  expect(results[1]).toHaveProperty('reason.error', 50001)
})
