import { heapStats } from 'bun:jsc'
import { expect, test } from 'bun:test'
import { watchHealth } from '../../src/engine/health'
import { RequestError } from '../../src/errors'
import { until } from '../harness/until'

function watch(write: () => Promise<unknown>, known: { problem: RequestError | null }) {
  let isProbeDue = true
  const confirm = () => {
    isProbeDue = false
  }
  const probe = watchHealth({
    isProbeDue: () => isProbeDue,
    problem: () => known.problem,
    write,
  })
  return { confirm, probe }
}

const none = () => ({ problem: null })

test('a probe writes, unless the known state is enough', async () => {
  let writes = 0
  const { confirm, probe } = watch(async () => {
    writes += 1
  }, none())
  await probe()
  expect(writes).toBe(1)
  confirm()
  await probe()
  expect(writes).toBe(1)
})

test('simultaneous probes share one write, and do not wait for its end', async () => {
  let writes = 0
  const { promise, reject } = Promise.withResolvers<void>()
  const { probe } = watch(() => {
    writes += 1
    return promise
  }, none())
  await Promise.all([probe(), probe(), probe()])
  await probe()
  expect(writes).toBe(1)
  reject(new RequestError('cannot write'))
  await promise.catch(() => {})
  await expect(probe()).rejects.toMatchObject({ error: 'cannot write' })
  expect(writes).toBe(2)
})

test('keeps no memory of probes that a stalled write did not answer', async () => {
  const { probe } = watch(() => new Promise(() => {}), none())
  const promises = () => heapStats().objectTypeCounts.Promise ?? 0
  await probe()
  Bun.gc(true)
  const before = promises()
  for (let round = 0; round < 2; round++) await Promise.all(Array.from({ length: 5000 }, probe))

  // What is on the stack may keep some of them for a while.
  await until('their promises to be collected', () => {
    Bun.gc(true)
    return promises() - before < 1000
  })
})

test('a write that is refused makes a probe fail, but for a full queue; a known problem comes first', async () => {
  let refusal = new RequestError('disk full')
  const known: { problem: RequestError | null } = none()
  const { probe } = watch(() => Promise.reject(refusal), known)
  await expect(probe()).rejects.toMatchObject({ error: 'disk full' })
  refusal = new RequestError('busy')
  await probe()
  known.problem = new RequestError('cannot write', 'the server has been lost for 3 s')
  await expect(probe()).rejects.toBe(known.problem)
})
