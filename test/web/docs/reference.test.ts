// The API reference at /docs as it is delivered; test/slow/browser looks at it in a browser.
import { expect, test } from 'bun:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { startDaemon } from '../../harness/daemon'
import { ownDaemon } from '../../harness/own-daemon'
import { ownPages } from '../../harness/own-pages'
import { expectError } from '../../harness/plants'

const LARGEST_PAGE_BYTES = 20_000

ownPages()

const { daemon, folder } = ownDaemon()

const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(`${daemon.url}${path}`, { method, headers, decompress: false })

const files = ['/docs', '/docs/main.js', '/docs/style.css', '/docs/icon.svg']

test('the reference is a page with a script, a style sheet and an icon, by relative links', async () => {
  const html = await (await get('/docs')).text()
  const links = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => `${link}`)

  expect(links.toSorted()).toEqual([
    'docs/icon.svg',
    'docs/main.js',
    'docs/style.css',
    'openapi.json',
  ])
  // Behind a proxy with a prefix they are found below it.
  const base = 'https://example.org/garden/docs'
  expect(links.map((link) => new URL(link, base).pathname.startsWith('/garden/'))).not.toContain(
    false,
  )
  expect(html).not.toMatch(/<style|style=|<script(?![^>]* src=)|\son\w+=/)
})

test('the reference loads nothing from elsewhere', async () => {
  for (const path of files) {
    const text = await (await get(path)).text()
    const hosts = text.match(/(?:https?:)?\/\/[\w-]+(?:\.[\w-]+)+/g) ?? []
    // Names of XML, which no page fetches.
    expect(hosts.filter((host) => host !== 'http://www.w3.org')).toEqual([])
  }
})

test('the reference needs no credentials, and ignores bad ones', async () => {
  expect((await get('/docs')).status).toBe(200)
  expect((await get('/docs', { authorization: 'Bearer wrong' })).status).toBe(200)
})

test.each(files)('serves %s in the accepted coding: brotli, gzip or plain', async (path) => {
  const plain = await get(path)
  const text = await plain.text()
  const gzip = await get(path, { 'accept-encoding': 'gzip' })
  const brotli = await get(path, { 'accept-encoding': 'gzip, br' })

  expect(plain.headers.get('content-encoding')).toBeNull()
  expect(gzip.headers.get('content-encoding')).toBe('gzip')
  expect(brotli.headers.get('content-encoding')).toBe('br')
  expect(gunzipSync(await gzip.bytes()).toString()).toBe(text)
  expect(brotliDecompressSync(await brotli.bytes()).toString()).toBe(text)
})

test.each(files)('answers 304 to a client that has %s', async (path) => {
  for (const coding of ['identity', 'gzip', 'br']) {
    const asked = { 'accept-encoding': coding }
    const tag = String((await get(path, asked)).headers.get('etag'))
    const answer = await get(path, { ...asked, 'if-none-match': tag })

    expect(tag).toMatch(/^"[\w-]+"$/)
    expect({ status: answer.status, body: await answer.text() }).toEqual({ status: 304, body: '' })
    expect((await get(path, { ...asked, 'if-none-match': '"other"' })).status).toBe(200)
  }
})

test.each(files)('locks %s down by the same headers as the console', async (path) => {
  const names = [
    'content-security-policy',
    'x-content-type-options',
    'x-frame-options',
    'referrer-policy',
    'cross-origin-opener-policy',
    'cross-origin-resource-policy',
    'permissions-policy',
    'cache-control',
    'vary',
  ]
  // The console's page alone may start a thread.
  const [{ headers: console }, { headers }] = [await get('/console/main.js'), await get(path)]

  for (const name of names) {
    expect({ [name]: headers.get(name) }).toEqual({ [name]: console.get(name) })
    expect(headers.get(name)).not.toBeNull()
  }
  const policy = String(headers.get('content-security-policy'))
  expect(policy).toStartWith("default-src 'none'; ")
  expect(policy).not.toMatch(/unsafe|data:|blob:|\*/)
})

test('the reference takes at most 20 kB, compressed', async () => {
  const sizes = files.map(async (path) => {
    const { headers } = await get(path, { 'accept-encoding': 'br' }, 'HEAD')
    return Number(headers.get('content-length'))
  })
  const all = await Promise.all(sizes)

  expect(all.every((bytes) => bytes > 0)).toBeTrue()
  expect(all.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(LARGEST_PAGE_BYTES)
})

test('answers HEAD as GET without the body, and refuses other methods', async () => {
  for (const path of files) {
    const head = await get(path, {}, 'HEAD')
    const whole = await get(path)
    expect(head.status).toBe(200)
    expect(head.headers.get('etag')).toBe(whole.headers.get('etag'))
    expect(await head.text()).toBe('')
    for (const method of ['POST', 'PUT', 'DELETE']) {
      const refused = await get(path, {}, method)
      expect(refused.headers.get('allow')).toBe('GET, HEAD')
      await expectError(refused, 40501)
    }
  }
})

test('the reference has no other files, and none of the console', async () => {
  for (const path of ['/docs/nope.js', '/docs/main.tsx', '/docs/..%2fconsole%2fmain.js'])
    await expectError(await get(path), 40401)
})

test('the description leaves out the reference, and describes only the API', async () => {
  const { paths } = (await (await get('/openapi.json')).json()) as { paths: object }

  expect(Object.keys(paths).filter((path) => path.includes('docs'))).toEqual([])
})

test('--no-console leaves the reference out, and keeps the description', async () => {
  await using bare = await startDaemon({ args: ['--no-console'], database: folder.file('bare.db') })

  for (const path of files) await expectError(await bare.fetch(path), 40401)
  expect((await bare.fetch('/openapi.json')).status).toBe(200)
})
