// Several commits under way at a time, as a server that is far wants them.
import { expect, test } from 'bun:test'
import { createLedger, turns } from './harness/ledger'

const FAR = { commits: () => 3 }

test('sends what waits while other commits are under way, up to so many, in the order of the changes', async () => {
  const { group, batches, submit } = createLedger(FAR)

  for (const change of 'abcdefgh') {
    submit(change)
    await turns()
  }

  expect(batches).toEqual([['a'], ['b'], ['c']])
  expect(group.queued).toBe(5)
})

test('takes all that waits into the next commit, as soon as one ends', async () => {
  const { group, batches, submit, end } = createLedger(FAR)
  const answered: string[] = []
  for (const change of 'abcde') {
    submit(change).then(() => answered.push(change))
    await turns()
  }

  await end()

  expect(batches).toEqual([['a'], ['b'], ['c'], ['d', 'e']])
  expect(answered).toEqual(['a'])
  expect(group.queued).toBe(0)
})

test('does not hold a batch where several may be under way', async () => {
  const { batches, submit, end } = createLedger(FAR)
  for (const change of 'abc') submit(change)
  await turns()
  await Bun.sleep(20)
  await end()

  submit('d')
  await turns()

  expect(batches).toEqual([['a', 'b', 'c'], ['d']])
})

test('is drained when nothing is under way any more', async () => {
  const { group, submit, end } = createLedger(FAR)
  let isDrained = false
  for (const change of 'abc') {
    submit(change)
    await turns()
  }
  group.drained().then(() => {
    isDrained = true
  })

  await end()
  await end()
  expect(isDrained).toBeFalse()
  await end()
  expect(isDrained).toBeTrue()
})

test('refuses one batch that fails, and answers those beside it', async () => {
  const { submit, end } = createLedger(FAR)
  const ends: string[] = []
  for (const change of 'ab') {
    submit(change).then(
      () => ends.push(`${change} stored`),
      () => ends.push(`${change} refused`),
    )
    await turns()
  }

  await end(new Error('lost'))
  await end()

  expect(ends).toEqual(['a refused', 'b stored'])
})

test('decides how many may be under way by how long the last commit took', async () => {
  const { batches, submit, end } = createLedger({
    commits: (_, milliseconds) => (milliseconds < 200 ? 2 : 1),
  })
  submit('a')
  await turns()
  submit('b')
  await turns()
  expect(batches).toEqual([['a']])

  // This one was quick.
  await end()
  expect(batches).toEqual([['a'], ['b']])
  submit('c')
  await turns()
  expect(batches).toEqual([['a'], ['b'], ['c']])

  // And this one was not: what waits is not sent beside the other.
  submit('d')
  await Bun.sleep(250)
  await end()
  await Bun.sleep(200)
  expect(batches).toHaveLength(3)
  await end()
  await Bun.sleep(250)
  expect(batches).toEqual([['a'], ['b'], ['c'], ['d']])
})
