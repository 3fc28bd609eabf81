import { expect, test } from 'bun:test'
import { shutDown } from '../../src/daemon/shutdown'
import { createLog } from '../../src/log'
import type { StopSignal } from '../../src/program'

const never = new Promise<never>(() => {})

/** Shuts a daemon down that closes as it is told; resolves to the exit code and the events of its log. */
async function shutDownWith(part: {
  readonly close?: (drainMs: number) => Promise<void>
  readonly second?: Promise<StopSignal>
  readonly milliseconds?: number
}) {
  const events: string[] = []
  const log = createLog(
    (line) => events.push(JSON.parse(line).event),
    'json',
    () => 0,
  )
  const code = await shutDown({
    close: async () => {},
    second: never,
    milliseconds: 60_000,
    log,
    ...part,
  })
  return { code, events }
}

test('a shutdown closes the database, then exits with 0', async () => {
  let isClosed = false
  const close = async () => {
    await Bun.sleep(5)
    isClosed = true
  }

  expect(await shutDownWith({ close })).toEqual({ code: 0, events: ['stopped'] })
  expect(isClosed).toBeTrue()
})

test('the end is logged once, even if a second signal follows', async () => {
  const signal = Promise.withResolvers<StopSignal>()
  const { events } = await shutDownWith({ second: signal.promise })
  signal.resolve('SIGINT')
  await Bun.sleep(0)

  expect(events).toEqual(['stopped'])
})

test('the exit code is 74 if the disk hangs while the database closes', async () => {
  const close = () => never

  expect(await shutDownWith({ close, milliseconds: 0 })).toEqual({
    code: 74,
    events: ['stop-timed-out'],
  })
})

test.each([
  ['a read-only file system', Object.assign(new Error('read-only'), { code: 'EROFS' })],
  ['anything else', new Error('unknown')],
])('the exit code is 74 if the database cannot be closed: %s', async (_, error) => {
  const close = () => Promise.reject(error)

  expect(await shutDownWith({ close })).toEqual({ code: 74, events: ['close-failed'] })
})

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('a second %s ends the shutdown at once', async (signal, code) => {
  const second = Promise.resolve(signal)
  expect(await shutDownWith({ close: () => never, second })).toEqual({
    code,
    events: ['stopped-at-once'],
  })
})

test('time is left to close the database if clients do not finish', async () => {
  let drainMs = 0
  const close = async (milliseconds: number) => {
    drainMs = milliseconds
  }

  await shutDownWith({ close, milliseconds: 8000 })

  expect(drainMs).toBe(6000)
})
