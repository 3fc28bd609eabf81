import { expect, test } from 'bun:test'
import { PlantError } from '../../src/errors'
import { createApp } from '../../src/http/app'
import { createMetrics } from '../../src/metrics'
import type { Store } from '../../src/store'
import { hashToken } from '../../src/token'
import { TOKEN } from '../harness/daemon'
import { expectError } from '../harness/plants'

/** An app whose store does what a test says; what else it is asked for fails. */
function appOf(store: Partial<Store>) {
  const logged: string[] = []
  const app = createApp({
    store: store as Store,
    metrics: createMetrics(),
    log: (_, event) => logged.push(event),
    now: () => 0,
    configuredToken: () => ({
      name: 'test',
      hash: hashToken(TOKEN),
      scope: 'write',
      createdAt: 0,
      expiresAt: null,
      revokedAt: null,
      lastUsedAt: null,
    }),
    maxBodyBytes: 1000,
    logRequests: false,
    rateLimit: null,
    cors: null,
    hsts: null,
    loadPages: null,
    clientOf: () => null,
    timeOut: () => {},
    stopping: new AbortController().signal,
  })
  const request = (path: string, init: RequestInit = {}) =>
    Promise.resolve(app.handle(new Request(`http://localhost${path}`, init)))
  return { request, logged }
}

test('is healthy while creates wait', async () => {
  const waiting = Promise.withResolvers<void>()
  const { request } = appOf({ createPlant: () => waiting.promise, probe: async () => {} })
  const create = request('/plants', {
    method: 'POST',
    body: '{"id":1,"name":"Rose"}',
    headers: {
      authorization: `Bearer ${TOKEN}`,
      'content-type': 'application/json',
      'content-length': '22',
    },
  })

  const answer = await request('/health')

  expect(answer.status).toBe(200)
  expect(await answer.json()).toEqual({ status: 'ok' })
  waiting.resolve()
  expect((await create).status).toBe(200)
})

test('is healthy where the queue refuses creates', async () => {
  const { request } = appOf({
    createPlant: () => Promise.reject(new PlantError(50301)),
    probe: async () => {},
  })

  expect((await request('/health')).status).toBe(200)
})

test.each([
  ['full', new PlantError(50701), 'disk full; nothing was stored'],
  ['suspended', new PlantError(50302, 'the file was moved'), 'the file was moved'],
  ['broken', new Error('/secret/path'), 'cannot write to the database; nothing was stored'],
])('is 503 where the store cannot write: %s', async (_, reason, message) => {
  const { request } = appOf({ probe: () => Promise.reject(reason) })

  expect(await expectError(await request('/health'), 50302)).toBe(message)
})
