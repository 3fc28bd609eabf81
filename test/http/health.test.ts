import { expect, test } from 'bun:test'
import { RequestError } from '../../src/errors'
import type { Store } from '../../src/store'
import { configuredToken, serveStore } from '../../tools/service'
import { TOKEN } from '../harness/daemon'
import { expectError } from '../harness/plants'

/** A service whose store does what a test says; what else it is asked for fails. */
function serve(store: Partial<Store>) {
  const token = configuredToken(TOKEN)
  const { url, end } = serveStore({ stats: () => ({}), ...store } as Store, {
    configuredToken: () => token,
  })
  return {
    request: (path: string, init: RequestInit = {}) => fetch(`${url}${path}`, init),
    [Symbol.asyncDispose]: end,
  }
}

test('the service is healthy while creates wait', async () => {
  const waiting = Promise.withResolvers<void>()
  await using service = serve({
    createPlant: () => waiting.promise,
    probe: async () => 'ok' as const,
  })
  const create = service.request('/plants', {
    method: 'POST',
    body: '{"id":1,"name":"Rose"}',
    headers: {
      authorization: `Bearer ${TOKEN}`,
      'content-type': 'application/json',
    },
  })

  const answer = await service.request('/health')

  expect(answer.status).toBe(200)
  expect(await answer.json()).toEqual({ status: 'ok' })
  waiting.resolve()
  expect((await create).status).toBe(200)
})

test('the service is healthy while the queue refuses creates', async () => {
  await using service = serve({
    createPlant: () => Promise.reject(new RequestError('busy')),
    probe: async () => 'ok' as const,
  })

  expect((await service.request('/health')).status).toBe(200)
})

test.each([
  ['full', new RequestError('disk full'), 'disk full; nothing was stored'],
  ['suspended', new RequestError('storage failed', 'the file was moved'), 'the file was moved'],
  ['broken', new Error('/secret/path'), 'cannot write to the database; nothing was stored'],
])('GET /health answers 503 if the store cannot write: %s', async (_, reason, message) => {
  await using service = serve({ probe: () => Promise.reject(reason) })

  expect(await expectError(await service.request('/health'), 50302)).toBe(message)
})
