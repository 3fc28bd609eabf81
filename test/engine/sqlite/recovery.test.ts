// The attempts to end an outage, on a clock that the test moves.
import { afterEach, beforeEach, expect, jest, spyOn, test } from 'bun:test'
import { DamageCheck } from '../../../src/engine/sqlite/outages/damage-check'
import { Recovery } from '../../../src/engine/sqlite/outages/recovery'
import { StorageState } from '../../../src/engine/storage-state'
import { RequestError } from '../../../src/errors'

beforeEach(() => void jest.useFakeTimers())
afterEach(() => void jest.useRealTimers())

const settled = async () => {
  for (let n = 0; n < 10; n++) await null
}

async function pass(milliseconds: number): Promise<void> {
  jest.advanceTimersByTime(milliseconds)
  await settled()
}

/** A recovery of a real state, and its attempts: each is made when the test lets it end. */
function recovering() {
  const made: string[] = []
  let end = Promise.withResolvers<void>()
  const state = new StorageState({
    log: () => {},
    toError: () => new RequestError('cannot write'),
    storage: 'the disk',
    stalledMs: 10_000,
  })
  const attempt = (name: string) => async () => {
    made.push(name)
    await end.promise
  }
  const recovery = new Recovery(state, {
    reopen: attempt('reopen'),
    lock: attempt('lock'),
    trial: attempt('trial'),
  })
  return {
    state,
    recovery,
    made,
    async endAttempt(): Promise<void> {
      end.resolve()
      end = Promise.withResolvers()
      await settled()
    },
  }
}

const failure = { kind: 'failed', detail: 'disk I/O error' } as const

test('tries each second, one attempt at a time, until the cause has ended', async () => {
  const { state, recovery, made, endAttempt } = recovering()
  state.report({ source: 'commit', failure })
  recovery.start()
  recovery.start()
  await pass(999)
  expect(made).toEqual([])
  await pass(1)
  expect(made).toEqual(['reopen'])

  recovery.start()
  await pass(5000)
  expect(made).toEqual(['reopen'])
  await endAttempt()
  await pass(999)
  expect(made).toEqual(['reopen'])
  await pass(1)
  expect(made).toEqual(['reopen', 'reopen'])

  state.report('reopened')
  await endAttempt()
  expect(jest.getTimerCount()).toBe(0)
})

test('tries a write once after a refusal that may affect others', async () => {
  const { recovery, made, endAttempt } = recovering()
  recovery.start()
  expect(jest.getTimerCount()).toBe(0)

  recovery.suspect()
  await pass(1000)
  await endAttempt()
  await pass(5000)

  expect(made).toEqual(['trial'])
})

test('remembers a refusal until the storage is open again', async () => {
  const { state, recovery, made, endAttempt } = recovering()
  state.report({ source: 'commit', failure })
  recovery.suspect()
  await pass(1000)
  state.report('reopened')
  await endAttempt()
  await pass(1000)

  expect(made).toEqual(['reopen', 'trial'])
})

test('ends after the attempt that is being made', async () => {
  const { recovery, made, endAttempt } = recovering()
  recovery.suspect()
  await pass(1000)
  let isClosed = false
  const closing = recovery.close().then(() => {
    isClosed = true
  })
  recovery.suspect()
  await settled()
  expect(isClosed).toBeFalse()

  await endAttempt()
  await closing
  recovery.suspect()
  await pass(5000)

  expect(made).toEqual(['trial'])
})

test('an attempt that has not begun is not made after the end', async () => {
  const { recovery, made } = recovering()
  recovery.suspect()
  await recovery.close()
  await pass(5000)

  expect(made).toEqual([])
})

/** Checks of a damaged database that end so. */
function checking(results: readonly boolean[]) {
  const left = [...results]
  let found = 0
  const check = new DamageCheck(
    async () => left.shift() ?? false,
    () => {
      found += 1
    },
  )
  return { check, checks: () => results.length - left.length, found: () => found }
}

test('checks a damaged database after half a minute, and again until it is whole', async () => {
  const { check, checks, found } = checking([false, true, true])
  check.start()
  check.start()
  await pass(29_999)
  expect(checks()).toBe(0)
  await pass(1)
  expect([checks(), found()]).toEqual([1, 0])
  await pass(30_000)
  expect([checks(), found()]).toEqual([2, 1])
  await pass(100_000)
  expect(checks()).toBe(2)

  check.start()
  await pass(30_000)
  expect([checks(), found()]).toEqual([3, 2])
})

test('a check takes at most a hundredth of the time', async () => {
  let now = 0
  const clock = spyOn(performance, 'now').mockImplementation(() => now)
  let checks = 0
  const check = new DamageCheck(
    async () => {
      checks += 1
      now += 1000
      return false
    },
    () => {},
  )
  check.start()
  await pass(30_000)
  await pass(99_999)
  expect(checks).toBe(1)
  await pass(1)
  expect(checks).toBe(2)
  clock.mockRestore()
  check.close()
})

test('checks nothing after the end', async () => {
  const { check, checks } = checking([true])
  check.start()
  check.close()
  await pass(30_000)

  expect(checks()).toBe(0)
})

test('an end during a check is the end of all', async () => {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  let found = 0
  const check = new DamageCheck(
    () => promise,
    () => {
      found += 1
    },
  )
  check.start()
  await pass(30_000)
  check.close()
  resolve(true)
  await settled()

  expect([found, jest.getTimerCount()]).toEqual([0, 0])
})
