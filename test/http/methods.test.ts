import { expect, test } from 'bun:test'
import { TOKEN } from '../harness/daemon'
import { connect, head } from '../harness/http'
import { ownDaemon } from '../harness/own-daemon'
import { expectError } from '../harness/plants'

const { daemon } = ownDaemon()

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']

test.each([
  ['/plants', ['GET', 'HEAD', 'POST']],
  ['/plants/1', ['DELETE', 'GET', 'HEAD', 'PATCH', 'PUT']],
  ['/plants/batch', ['PATCH', 'POST', 'PUT']],
  ['/plants/batch-delete', ['POST']],
  ['/tags', ['GET', 'HEAD']],
  ['/plants/changes', ['GET', 'HEAD']],
  ['/plants/history', ['GET', 'HEAD']],
  ['/plants/1/history', ['GET', 'HEAD']],
  ['/health', ['GET', 'HEAD']],
  ['/metrics', ['GET', 'HEAD']],
  ['/token', ['GET', 'HEAD']],
  ['/status', ['GET', 'HEAD']],
])('%s has the methods that Allow names, and no others', async (path, methods) => {
  for (const method of METHODS.filter((other) => !methods.includes(other))) {
    const response = await daemon.fetch(path, { method })

    expect({ method, status: response.status }).toEqual({ method, status: 405 })
    expect(response.headers.get('allow')?.split(', ').sort()).toEqual(methods)
    if (method !== 'HEAD') await expectError(response, 40501)
  }
  for (const method of methods) {
    const response = await daemon.fetch(path, { method })
    expect({ method, is405: response.status === 405 }).toEqual({ method, is405: false })
  }
})

test.each([
  '/plants',
  '/plants/1',
  '/plants/2',
  '/plants/x',
  '/health',
  '/metrics',
  '/token',
  '/status',
  '/nowhere',
])('the daemon responds to HEAD %s as to GET, without the body', async (path) => {
  const get = await daemon.fetch(path)
  const body = await get.arrayBuffer()
  const head = await daemon.fetch(path, { method: 'HEAD' })

  expect(head.status).toBe(get.status)
  expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'))
  // The metrics have changed in between.
  if (path !== '/metrics') {
    expect(head.headers.get('content-length')).toBe(String(body.byteLength))
  }
  expect(await head.text()).toBe('')
})

test.each([
  ['HEAD', '/plants'],
  ['HEAD', '/plants/1'],
  ['HEAD', '/health'],
  ['HEAD', '/plants/batch'],
  ['HEAD', '/nowhere'],
  ['GET', '/health'],
])('the response to %s %s has one date', async (method, path) => {
  await using connection = await connect(daemon.url)
  connection.write(head(`${method} ${path}`, { authorization: `Bearer ${TOKEN}` }))

  const dates = [...(await connection.receive(/\r\n\r\n/)).matchAll(/^date: (.*)\r$/gim)]

  expect(dates).toHaveLength(1)
  const [, date = ''] = dates[0] ?? []
  expect(date).toMatch(/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/)
  expect(Math.abs(Date.parse(date) - Date.now())).toBeLessThan(60_000)
})
