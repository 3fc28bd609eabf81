import { expect, test } from 'bun:test'
import { createLedger, turns } from '../harness/ledger'

test('a write over the limit of the queue fails with "busy", and the queue is committed', async () => {
  const { group, submit, batches, run, end } = createLedger({ queuedWrites: 2 })
  const taken = [submit('a')]
  await turns()
  taken.push(submit('b'), submit('c'))

  await expect(submit('d')).rejects.toHaveProperty('error', 'busy')
  expect(group.queueLength).toBe(2)
  await end()
  await end()
  await Promise.all(taken)
  expect(batches.flat()).toEqual(['a', 'b', 'c'])
  const later = submit('e')
  await turns()
  await run(() => batches.flat().length < 4)
  await end()
  await later
})

test('a write over the size limit of the queue fails with "busy", unless it is alone', async () => {
  const { submit, batches, end } = createLedger({ queuedBytes: 10 })
  const taken = [submit('a', 1000)]
  await turns()
  taken.push(submit('b', 6), submit('c', 4))

  await expect(submit('d', 1)).rejects.toHaveProperty('error', 'busy')
  await end()
  await end()
  await Promise.all(taken)
  expect(batches.flat()).toEqual(['a', 'b', 'c'])
})

test('the size of the queue excludes a batch that was taken', async () => {
  const { submit, batches, end } = createLedger({ batchWrites: 1, queuedBytes: 20 })
  const taken = [submit('a', 5), submit('b', 5), submit('c', 5)]
  await turns()
  expect(batches).toEqual([['a']])

  taken.push(submit('d', 10))
  let refusal: unknown
  submit('e', 1).catch(({ error }) => {
    refusal = error
  })
  await turns()
  expect(refusal).toBe('busy')
  for (let batch = 1; batch <= 4; batch++) await end()
  await Promise.all(taken)
})

test('the queue is drained once no write waits or is being committed', async () => {
  const { group, submit, batches, run, end } = createLedger()
  await group.whenIdle()
  const first = submit('a')
  await turns()
  const second = submit('b')
  let isDrained = false
  const drained = group.whenIdle().then(() => {
    isDrained = true
  })

  await end()
  await first
  expect(isDrained).toBeFalse()
  await run(() => batches.length < 2)
  expect(isDrained).toBeFalse()
  await end()
  await second
  await drained
})
