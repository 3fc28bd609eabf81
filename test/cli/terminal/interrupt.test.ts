import { expect, test } from 'bun:test'
import { interruptible } from '../../../src/cli/terminal/interrupt'

test.each([
  ['SIGHUP', 129],
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('a clean shutdown ends with the exit code of the signal: %s', async (signal, code) => {
  let isCleaned = false

  const exit = await interruptible(async (aborted) => {
    process.kill(process.pid, signal)
    try {
      for (;;) {
        aborted.throwIfAborted()
        await Bun.sleep(1)
      }
    } finally {
      isCleaned = true
    }
  })

  expect({ exit, isCleaned }).toEqual({ exit: code, isCleaned: true })
  expect(process.listenerCount(signal)).toBe(0)
})

test('an error or a result is passed on if no signal has arrived', async () => {
  await expect(interruptible(() => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(await interruptible(async () => 7)).toBe(7)
})
