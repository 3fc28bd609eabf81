// The memory of responses that their clients have not read yet, without the network.
import { expect, test } from 'bun:test'
import { createByteBudget } from '../../src/http/byte-budget'
import { createResponder } from '../../src/http/responses/respond'
import { turns } from '../harness/ledger'

const MIB = 1024 * 1024
const LONG = 'x'.repeat(MIB)

test('a stored change gets its response even if there is no room for it; a read fails with busy', () => {
  const budget = createByteBudget(MIB)
  const { respond } = createResponder(budget, () => {})
  using _ = budget.hold(64 * MIB)
  const ask = (method: string) => respond(new Request('http://localhost/', { method }), LONG)

  expect(ask('PUT').status).toBe(200)
  expect(() => ask('GET')).toThrow('busy')
})

test('a long response is counted until its client has read it', async () => {
  const budget = createByteBudget(MIB)
  const server = Bun.serve({
    port: 0,
    fetch: (request) => createResponder(budget, () => {}).respond(request, LONG.repeat(16)),
  })
  const gone = new AbortController()
  await using _ = { [Symbol.asyncDispose]: () => server.stop(true) }
  const response = await fetch(server.url, { signal: gone.signal })
  await Bun.sleep(200)
  expect(budget.bytesHeld()).toBe(16 * MIB)

  expect((await response.text()).length).toBe(16 * MIB)
  await turns(20)
  expect(budget.bytesHeld()).toBe(0)
})
