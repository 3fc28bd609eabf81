import { expect, test } from 'bun:test'
import { watchOpenFiles } from '../../../src/daemon/listening/open-files.ts'

test('counts open files once for simultaneous calls', async () => {
  const count = await watchOpenFiles(() => {})
  const [one, other] = [count(), count()]
  expect(other).toBe(one)
  expect(await one).toMatchObject({ open: expect.any(Number), limit: expect.any(Number) })
  expect(count()).not.toBe(one)
})
