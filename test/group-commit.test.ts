import { expect, test } from 'bun:test'
import { GroupCommit, type GroupCommitLimits, type Outcome } from '../src/engine/group-commit'

const ROOMY = { queuedChanges: 1000, queuedBytes: 1_000_000, batchChanges: 1000 }

/** The next turns of the event loop: enough for what starts in one of them, too few for a timer of some milliseconds. */
const turns = async () => {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** Commits to an array, when the test says so. A change "no" is refused. */
function createLedger(limits: Partial<GroupCommitLimits> = {}) {
  const batches: string[][] = []
  const measured: number[] = []
  const running: PromiseWithResolvers<void>[] = []
  const group = new GroupCommit<string>(
    async (batch) => {
      batches.push(batch)
      const run = Promise.withResolvers<void>()
      running.push(run)
      await run.promise
      return batch.map(
        (change): Outcome => (change.startsWith('no') ? { error: 40902, message: change } : null),
      )
    },
    { ...ROOMY, ...limits },
    (changes) => measured.push(changes),
  )
  return {
    group,
    batches,
    measured,
    submit: (change: string, bytes = 1) => group.submit(change, bytes),
    /** Lets the running commit end, or fail. */
    async end(error?: Error) {
      const run = running.shift()
      if (error) run?.reject(error)
      else run?.resolve()
      await turns()
    },
  }
}

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
  // A quarter of this is the longest hold.
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

test('holds no longer than a part of a commit for those who do not come back', async () => {
  const { submit, batches, end } = createLedger()
  const first = [submit('a'), submit('b')]
  await turns()
  const started = performance.now()
  await Bun.sleep(200)
  await end()
  const took = performance.now() - started
  await Promise.all(first)

  const held = performance.now()
  const lone = submit('c')
  while (batches.length < 2) await Bun.sleep(1)
  expect(performance.now() - held).toBeLessThan(took)
  await end()
  await lone
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

test('refuses with 50301 what is one too many to wait, and commits what waits', async () => {
  const { group, submit, batches, end } = createLedger({ queuedChanges: 2 })
  const taken = [submit('a')]
  await turns()
  taken.push(submit('b'), submit('c'))

  await expect(submit('d')).rejects.toHaveProperty('error', 50301)
  expect(group.queued).toBe(2)
  await end()
  await end()
  await Promise.all(taken)
  expect(batches.flat()).toEqual(['a', 'b', 'c'])
  const later = submit('e')
  await turns()
  while (batches.flat().length < 4) await Bun.sleep(1)
  await end()
  await later
})

test('refuses with 50301 what holds too many bytes, but never a change that waits alone', async () => {
  const { submit, batches, end } = createLedger({ queuedBytes: 10 })
  const taken = [submit('a', 1000)]
  await turns()
  taken.push(submit('b', 6), submit('c', 4))

  await expect(submit('d', 1)).rejects.toHaveProperty('error', 50301)
  await end()
  await end()
  await Promise.all(taken)
  expect(batches.flat()).toEqual(['a', 'b', 'c'])
})

test('commits no more changes at once than the limit', async () => {
  const { submit, batches, end } = createLedger({ batchChanges: 3 })
  const all = Promise.all(Array.from('abcdefgh', (change) => submit(change)))
  for (let batch = 1; batch <= 3; batch++) {
    while (batches.length < batch) await Bun.sleep(1)
    await end()
  }
  await all

  expect(batches.flat().join('')).toBe('abcdefgh')
  expect(batches.map(({ length }) => length)).toEqual([3, 3, 2])
})

test('is drained when nothing waits and nothing is committed', async () => {
  const { group, submit, batches, end } = createLedger()
  await group.drained()
  const first = submit('a')
  await turns()
  const second = submit('b')
  let isDrained = false
  const drained = group.drained().then(() => {
    isDrained = true
  })

  await end()
  await first
  expect(isDrained).toBeFalse()
  while (batches.length < 2) await Bun.sleep(1)
  expect(isDrained).toBeFalse()
  await end()
  await second
  await drained
})
