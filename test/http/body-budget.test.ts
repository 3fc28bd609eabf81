// The memory of bodies that are read at the same time, without the network.
import { expect, spyOn, test } from 'bun:test'
import { createBodies } from '../../src/http/bodies/body'
import { createDiscarder } from '../../src/http/bodies/refused-body'
import { createByteBudget } from '../../src/http/byte-budget'
import { turns } from '../harness/ledger'

const MIB = 1024 * 1024

/** A request whose body has this many bytes, and ends when it is told. */
function pending(bytes: number, headers: Record<string, string> = {}) {
  const end = Promise.withResolvers<void>()
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      controller.enqueue(new Uint8Array(bytes))
      await end.promise
      controller.close()
    },
  })
  const request = new Request('http://localhost/plants', { method: 'POST', body, headers })
  return { request, end: () => end.resolve() }
}

const sent = (request: Request) => ({ request, headers: request.headers.toJSON() })

test('the daemon reads 24 MiB of bodies at once, and refuses more', async () => {
  const { none } = createBodies(MIB, createByteBudget(MIB))
  const reading = Array.from({ length: 24 }, () => pending(MIB))
  const ends = reading.map(({ request }) => none.transform({ request, headers: {} }))
  await turns(20)

  const { request } = pending(1)
  await expect(none.transform({ request, headers: {} })).rejects.toHaveProperty('error', 'busy')
  for (const { end } of reading) end()
  await Promise.all(ends)

  const later = pending(MIB)
  later.end()
  await none.transform({ request: later.request, headers: {} })
})

test('the daemon refuses a body while it is read if all bodies exceed their limit', async () => {
  const { none } = createBodies(MIB, createByteBudget(MIB))
  const reading = Array.from({ length: 23 }, () => pending(MIB))
  const ends = reading.map(({ request }) => none.transform({ request, headers: {} }))
  const half = pending(MIB / 2 + 1)
  ends.push(none.transform({ request: half.request, headers: {} }))
  await turns(20)

  const { request } = pending(MIB / 2)
  await expect(none.transform({ request, headers: {} })).rejects.toHaveProperty('error', 'busy')
  for (const { end } of [...reading, half]) end()
  await Promise.all(ends)
})

test('the daemon discards sixteen refused bodies at once, whatever their length', async () => {
  const { discardRest } = createDiscarder(MIB, createByteBudget(MIB))
  const bodies = [
    ...Array.from({ length: 15 }, () => pending(1, { 'content-length': String(8 * MIB) })),
    pending(1),
    pending(1, { 'content-length': '1' }),
  ]
  const ends = bodies.map(({ request }) => discardRest(sent(request)))
  await turns()

  expect(bodies.map(({ request }) => request.body?.locked)).toEqual([
    ...Array.from({ length: 16 }, () => true),
    false,
  ])
  for (const { end } of bodies) end()
  expect(await Promise.all(ends)).toEqual(bodies.map(() => true))
})

test('the rest of a body counts as short up to eight MiB, or the limit of bodies', () => {
  const isShort = (limit: number, headers: Record<string, string>) =>
    createDiscarder(limit, createByteBudget(limit)).isShort(
      sent(new Request('http://localhost', { method: 'POST', headers })),
    )
  const lengths = (limit: number, length: number) =>
    isShort(limit, { 'content-length': String(length) })

  expect([lengths(MIB, 8 * MIB), lengths(MIB, 8 * MIB + 1)]).toEqual([true, false])
  expect([lengths(9 * MIB, 9 * MIB), lengths(9 * MIB, 9 * MIB + 1)]).toEqual([true, false])
  expect(isShort(MIB, {})).toBeTrue()
  expect(isShort(MIB, { 'transfer-encoding': 'chunked' })).toBeFalse()
})

test('memory is collected after 16 MiB of refused bodies, at most ten times a second', async () => {
  const collect = spyOn(Bun, 'gc')
  const clock = spyOn(performance, 'now').mockReturnValue(1000)
  const { discardRest } = createDiscarder(MIB, createByteBudget(MIB))
  const collected = async (bytes: number, now: number) => {
    clock.mockReturnValue(now)
    const { request, end } = pending(1, { 'content-length': String(bytes) })
    end()
    await discardRest(sent(request))
    return collect.mock.calls.length
  }

  const counts = [
    await collected(16 * MIB - 1, 1000),
    await collected(1, 1000),
    await collected(16 * MIB, 1099),
    await collected(1, 1100),
    await collected(1, 2000),
  ]
  collect.mockRestore()
  clock.mockRestore()

  expect(counts).toEqual([0, 1, 1, 2, 2])
})

/** A request whose client disconnects after ten bytes. */
function cutOff(): Request {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new Uint8Array(10))
      controller.error(new Error('the connection was closed'))
    },
  })
  return new Request('http://localhost', { method: 'POST', body })
}

test('the daemon reads the refused body of a disconnected client to its end', async () => {
  expect(await createDiscarder(MIB, createByteBudget(MIB)).discardRest(sent(cutOff()))).toBeTrue()
})

test('a body whose client has gone is not JSON', async () => {
  const read = createBodies(MIB, createByteBudget(MIB)).none.transform({
    request: cutOff(),
    headers: {},
  })

  await expect(read).rejects.toMatchObject({ error: 'not JSON', message: 'the body was cut off' })
})

test('a refused body that is being read is left to its reader', async () => {
  const { request } = pending(1)
  request.body?.getReader()

  expect(await createDiscarder(MIB, createByteBudget(MIB)).discardRest(sent(request))).toBeTrue()
})

test('the daemon gives up a body that stalls for a second', async () => {
  const { request } = pending(1)
  const started = performance.now()

  expect(await createDiscarder(MIB, createByteBudget(MIB)).discardRest(sent(request))).toBeFalse()
  expect(performance.now() - started).toBeGreaterThan(950)
})
