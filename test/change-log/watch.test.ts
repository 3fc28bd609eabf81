import { expect, test } from 'bun:test'
import { createChangeLogWatch } from '../../src/change-log/watch'
import { until } from '../harness/until'

/** A change log whose end is `next`, and the number of times that it was read. */
function createEnd() {
  const end = {
    next: 'a',
    reads: 0,
    async read() {
      end.reads += 1
      if (end.next === '') throw new Error('the store fails')
      return { entries: [], next: end.next }
    },
  }
  return end
}

test('the watch polls the change log four times a second while it has listeners', async () => {
  const end = createEnd()
  const { watch } = createChangeLogWatch(end.read)
  await Bun.sleep(300)
  expect(end.reads).toBe(0)

  const stop = watch(() => {})
  await Bun.sleep(650)
  stop()
  const { reads } = end
  expect(reads).toBeGreaterThanOrEqual(1)
  expect(reads).toBeLessThanOrEqual(3)
  await Bun.sleep(300)
  expect(end.reads).toBe(reads)
})

test('polls never overlap, even while one waits for a lost server', async () => {
  let reads = 0
  const { promise, resolve } = Promise.withResolvers<void>()
  const { watch } = createChangeLogWatch(async () => {
    reads += 1
    if (reads === 1) await promise
    return { entries: [], next: 'a' }
  })
  const ends: (string | undefined)[] = []
  const stop = watch((end) => ends.push(end))
  await Bun.sleep(900)
  expect([reads, ends]).toEqual([1, []])

  resolve()
  await until('another poll', () => reads > 1)
  stop()
  expect(ends).toEqual(['a'])
})

test('the watch notifies each listener once of new entries or a failure', async () => {
  const end = createEnd()
  const { watch } = createChangeLogWatch(end.read)
  let calls = 0
  const count = () => {
    calls += 1
  }
  const stops = [watch(count), watch(count)]
  await until('the first end', () => calls === 2)
  const { reads } = end
  await until('another look', () => end.reads > reads)
  expect(calls).toBe(2)

  end.next = ''
  await until('the failure', () => calls === 4)
  end.next = 'b'
  await until('the next end', () => calls === 6)

  stops[0]?.()
  end.next = 'c'
  await until('the last end', () => calls === 7)
  stops[1]?.()
})
