import { expect, test } from 'bun:test'
import { ownDaemon } from '../harness/own-daemon'

const { daemon } = ownDaemon()

test.each([
  ['GET', '/plants'],
  ['HEAD', '/plants'],
  ['GET', '/plants/1'],
  ['PUT', '/plants/1'],
  ['PATCH', '/plants/1'],
  ['DELETE', '/plants/1'],
  ['POST', '/plants/batch'],
  ['POST', '/plants/batch-delete'],
  ['GET', '/metrics'],
  ['GET', '/status'],
  ['GET', '/tags'],
  ['GET', '/token'],
  ['GET', '/plants/changes'],
  ['GET', '/plants/history'],
  ['GET', '/plants/1/history'],
])('the daemon asks for credentials: %s %s', async (method, path) => {
  const response = await fetch(`${daemon.url}${path}`, { method })

  expect(response.status).toBe(401)
  expect(response.headers.get('www-authenticate')).toBe('Bearer realm="plantstore"')
})

test('GET /health needs no token', async () => {
  const response = await fetch(`${daemon.url}/health`)

  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('application/json')
  expect(await response.text()).toBe('{"status":"ok"}')
  const wrong = { headers: { authorization: 'Bearer wrong' } }
  expect((await fetch(`${daemon.url}/health`, wrong)).status).toBe(200)
})
