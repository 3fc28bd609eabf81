import { expect, test } from 'bun:test'
import { startProcess } from './process'
import { until } from './until'

test('a wait resolves to the value that is found', async () => {
  let looks = 0

  expect(await until('a third look', () => ++looks >= 3 && 'found')).toBe('found')
  expect(looks).toBe(3)
})

test('a wait that takes too long fails, looks no more, and names what it waited for', async () => {
  let looks = 0
  const waiting = until('a flower', () => void looks++, 20)

  await expect(waiting).rejects.toThrow('not within 0.02 s: a flower')
  const before = looks
  await Bun.sleep(50)
  expect(looks).toBeLessThanOrEqual(before + 1)
})

test('a wait for output that never comes fails with the command and what it printed', async () => {
  await using child = startProcess(['sh', '-c', 'echo a leaf; exec sleep 600'])
  await child.prints(() => child.out() !== '')

  await expect(child.prints(() => false, 'a flower', 20)).rejects.toThrow(
    'not within 0.02 s: a flower of sh -c echo a leaf; exec sleep 600: a leaf',
  )
})
