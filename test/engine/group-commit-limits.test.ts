import { expect, test } from 'bun:test'
import { createLedger, turns } from '../harness/ledger'

test('refuses the write beyond the limit of the queue with "busy", and commits the queue', async () => {
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

test('refuses a write beyond the bytes of the queue with "busy", but never a lone one', async () => {
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

test('counts the bytes left in the queue after a batch is taken', async () => {
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

test('the queue is drained when no write waits or commits', async () => {
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
