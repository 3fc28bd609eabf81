import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { refusalOf, storeFolder } from '../harness/commands'
import { PATIENCE_MS, runProgram, startTemporary, TOKEN } from '../harness/daemon'
import { type Answer, connect, head, once } from '../harness/http'
import { ownDaemon } from '../harness/own-daemon'

setDefaultTimeout(PATIENCE_MS)

const APP = 'https://app.example.org'
const DEV = 'http://localhost:5173'
const EXTENSION = 'chrome-extension://abcdefghijklmnop'
const args = ['--cors-origin', `${APP}, ${DEV},${EXTENSION}`, '--max-body-bytes', '200']

const { daemon } = ownDaemon({
  args: [...args, '--log-requests', '--rate-limit', '1000000'],
})
beforeAll(async () => {
  await daemon.create(1)
  await daemon.create(2, 'Lily')
})

const authorization = `Bearer ${TOKEN}`

type Headers = Record<string, string>

async function ask(line: string, headers: Headers = {}, body = ''): Promise<Answer> {
  const length: Headers = body ? { 'content-length': String(body.length) } : {}
  const bytes = head(line, { authorization, ...headers, ...length }) + body
  const response = await once(daemon.port, bytes)
  if (!response) throw new Error('no answer')
  return response
}

const preflight = (path: string, origin: string, method: string, headers = 'authorization') =>
  once(
    daemon.port,
    head(`OPTIONS ${path}`, {
      origin,
      'access-control-request-method': method,
      'access-control-request-headers': headers,
    }),
  )

const corsOf = ({ headers }: Answer) =>
  Object.fromEntries(
    Object.entries(headers).filter(([name]) => /^access-control|^vary$/.test(name)),
  )

const ALLOWED = {
  'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
  'access-control-allow-headers':
    'Authorization, Content-Type, If-Match, If-None-Match, Last-Event-ID, Plantstore-Cursor, X-Request-Id',
  'access-control-max-age': '7200',
  vary: 'Origin',
}
const EXPOSED =
  'Link, ETag, Plantstore-Cursor, Retry-After, X-Request-Id, WWW-Authenticate, Allow, Accept-Patch'

test.each([APP, DEV, EXTENSION])('the preflight of %s needs no token', async (origin) => {
  for (const path of ['/plants', '/plants/1', '/plants/batch', '/health', '/metrics', '/nowhere']) {
    for (const method of ['POST', 'PATCH', 'DELETE', 'PUT', 'GET']) {
      const response = await preflight(path, origin, method, 'authorization,content-type,if-match')

      expect(response?.status).toBe(204)
      expect(response && corsOf(response)).toEqual({
        'access-control-allow-origin': origin,
        ...ALLOWED,
      })
      expect(response?.body).toBe('')
    }
  }
})

test.each([
  'https://app.example.org:8443',
  'http://app.example.org',
  'https://app.example.org.evil.example',
  'https://APP.example.org',
  'http://localhost:51730',
  'null',
  '*',
  `${APP}, ${DEV}`,
])('%j is not allowed, as it is not one of the origins', async (origin) => {
  const asked = await preflight('/plants', origin, 'POST')
  expect(asked?.status).toBe(405)
  expect(asked && corsOf(asked)).toEqual({ vary: 'Origin' })
  const response = await ask('GET /plants/1', { origin })
  expect(response.status).toBe(200)
  expect(corsOf(response)).toEqual({ vary: 'Origin' })
})

test('an OPTIONS that is no preflight fails with 405', async () => {
  const response = await ask('OPTIONS /plants', { origin: APP })

  expect(response.status).toBe(405)
  expect(response.headers.allow).toBe('POST, GET, HEAD')
  expect(response.headers['access-control-allow-origin']).toBe(APP)
})

const json = { 'content-type': 'application/json' }
const rows: [status: number, line: string, headers: Headers, body: string][] = [
  [200, 'HEAD /plants/1', {}, ''],
  [304, 'GET /plants/1', { 'if-none-match': '*' }, ''],
  [200, 'POST /plants', json, '{"id":3,"name":"Elm"}'],
  [204, 'DELETE /plants/3', {}, ''],
  [400, 'POST /plants', json, '{'],
  [401, 'GET /plants', { authorization: 'Basic x' }, ''],
  [404, 'GET /nowhere', {}, ''],
  [405, 'PUT /plants', json, '{}'],
  [409, 'POST /plants', json, '{"id":1,"name":"Elm"}'],
  [413, 'POST /plants', json, ' '.repeat(201)],
  [200, 'GET /health', {}, ''],
  [200, 'GET /openapi.json', {}, ''],
]

test.each(rows)('a page may read the status %i of %s', async (status, line, headers, body) => {
  const isHead = line.startsWith('HEAD')
  const bytes = (more: Headers) =>
    head(line, {
      authorization,
      ...headers,
      ...more,
      ...(body ? { 'content-length': String(body.length) } : {}),
    }) + body
  const connection = await connect(daemon.port)
  const response = await connection.send(bytes({ origin: APP }), isHead ? 'HEAD' : 'GET')
  connection.end()

  expect(response?.status).toBe(status)
  expect(response && corsOf(response)).toEqual({
    'access-control-allow-origin': APP,
    'access-control-expose-headers': EXPOSED,
    vary: expect.stringMatching(/^(accept-encoding, )?Origin$/),
  })
})

test('the daemon exposes every header that a page may not read by default', async () => {
  const always = ['cache-control', 'content-length', 'content-type', 'connection', 'date', 'vary']
  const page = await ask('GET /plants?limit=1', { origin: APP, 'x-request-id': 'a-1' })
  const plant = await ask('GET /plants/1', { origin: APP })
  const refused = await ask('GET /plants', { origin: APP, authorization: 'Bearer unknown' })
  const exposed = EXPOSED.toLowerCase().split(', ')

  expect(Object.keys(page.headers)).toContain('link')
  expect(Object.keys(plant.headers)).toContain('etag')
  expect(Object.keys(refused.headers)).toContain('www-authenticate')
  for (const { headers } of [page, plant, refused]) {
    const more = Object.keys(headers).filter(
      (name) => ![...always, ...exposed, 'x-content-type-options'].includes(name),
    )
    expect(more.filter((name) => !name.startsWith('access-control-'))).toEqual([])
  }
})

test('without the option a response is the same, whatever the origin', async () => {
  await using plain = await startTemporary()
  await plain.create(1)
  const bytes = async (line: string, origin: Headers) => {
    const response = await once(plain.port, head(line, { authorization, ...origin }))
    return { ...response, headers: { ...response?.headers, date: '' } }
  }
  for (const line of ['GET /plants/1', 'GET /nowhere', 'OPTIONS /plants', 'GET /plants?limit=0']) {
    const asked = { origin: APP, 'access-control-request-method': 'POST' }
    const response = await bytes(line, asked)

    expect(response).toEqual(await bytes(line, {}))
    expect(Object.keys(response.headers).join()).not.toMatch(/access-control|vary/)
  }
})

test.each([
  '*',
  'https://app.example.org/',
  'https://app.example.org:443',
  'https://bücher.example',
  'https://user@app.example.org',
  'localhost:5173',
  'null',
  'https://*.example.org',
  '',
])('the daemon refuses the origin %j in one line', async (origin) => {
  using folder = storeFolder()
  const flags = ['--port', '0', '--database', folder.database]
  const list = `${DEV},${origin}`
  expect(refusalOf(await runProgram(['serve', ...flags, '--cors-origin', list]), 2)).toBe(
    `--cors-origin takes origins, such as https://app.example.org,http://localhost:5173; not "${origin}"; see "plantstore serve --help"`,
  )
})
