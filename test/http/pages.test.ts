// The pages as they are delivered: compressed once, revalidated, and locked down by their headers.
import { beforeAll, expect, test } from 'bun:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { startDaemon } from '../harness/daemon'
import { head, once } from '../harness/http'
import { ownDaemon } from '../harness/own-daemon'
import { ownPages } from '../harness/own-pages'
import { expectError } from '../harness/plants'

ownPages()
const { daemon, folder } = ownDaemon()

const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(`${daemon.url}${path}`, { method, headers, decompress: false })

// The pages of the console and of the reference. The name of what main.js imports has a hash.
const REFERENCE = ['/docs', '/docs/main.js', '/docs/style.css', '/docs/icon.svg']
const FILES = [
  '/',
  ...['main.js', 'part-*.js', 'style.css', 'icon.svg'].map((name) => `/console/${name}`),
  ...REFERENCE,
]
const INLINE_CODE = /<style|style=|<script(?![^>]* src=)|\son\w+=/

let index = ''
let linked: string[] = []
beforeAll(async () => {
  index = await (await get('/')).text()
  linked = [...index.matchAll(/(?:src|href)="(console\/[^"]+)"/g)].map(([, path]) => `/${path}`)
})
const pathOf = (file: string) => linked.find((path) => new Bun.Glob(file).match(path)) ?? file

test('the console is a page with a script, what it imports, a style sheet and an icon, by relative links', () => {
  expect(index).toStartWith('<!doctype html>')
  expect(linked.toSorted()).toEqual([
    '/console/icon.svg',
    '/console/main.js',
    expect.stringMatching(/^\/console\/part-\w+\.js$/),
    '/console/style.css',
  ])
  expect(index).not.toMatch(/(?:src|href)="(?:\/|https?:)/)
  expect(index).not.toMatch(INLINE_CODE)
})

test('the reference is a page with a script, a style sheet and an icon, by relative links', async () => {
  const html = await (await get('/docs')).text()
  const links = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => String(link))

  expect(links.toSorted()).toEqual([
    'docs/icon.svg',
    'docs/main.js',
    'docs/style.css',
    'openapi.json',
  ])
  expect(html).not.toMatch(INLINE_CODE)
})

test.each(REFERENCE)(
  '%s loads nothing from elsewhere, and ignores bad credentials',
  async (path) => {
    const text = await (await get(path, { authorization: 'Bearer wrong' })).text()
    const hosts = text.match(/(?:https?:)?\/\/[\w-]+(?:\.[\w-]+)+/g) ?? []

    // Names of XML, which no page fetches.
    expect(hosts.filter((host) => host !== 'http://www.w3.org')).toEqual([])
  },
)

test.each(FILES)('%s refuses other methods than GET and HEAD', async (file) => {
  for (const method of ['POST', 'PUT', 'DELETE']) {
    const refused = await get(pathOf(file), {}, method)
    expect(refused.headers.get('allow')).toBe('GET, HEAD')
    await expectError(refused, 40501)
  }
})

test('the reference has no other files, and the description leaves it out', async () => {
  for (const path of ['/docs/nope.js', '/docs/main.tsx', '/docs/..%2fconsole%2fmain.js'])
    await expectError(await get(path), 40401)
  expect(await (await get('/openapi.json')).text()).not.toContain('"/docs')
})

test.each(FILES)('%s is served in the accepted coding: brotli, gzip or plain', async (file) => {
  const path = pathOf(file)
  const plain = await get(path)
  const text = await plain.text()
  const gzip = await get(path, { 'accept-encoding': 'gzip, deflate' })
  const brotli = await get(path, { 'accept-encoding': 'gzip, deflate, br, zstd' })
  const refused = await get(path, { 'accept-encoding': 'br;q=0, gzip;q=0.0' })

  expect(plain.headers.get('content-encoding')).toBeNull()
  expect(gzip.headers.get('content-encoding')).toBe('gzip')
  expect(brotli.headers.get('content-encoding')).toBe('br')
  expect(refused.headers.get('content-encoding')).toBeNull()
  expect(gunzipSync(await gzip.bytes()).toString()).toBe(text)
  expect(brotliDecompressSync(await brotli.bytes()).toString()).toBe(text)
  for (const { headers } of [plain, gzip, brotli]) {
    expect(headers.get('vary')).toBe('accept-encoding')
    expect(headers.get('content-type')).toMatch(
      /^(text\/(html|css|javascript); charset=utf-8|image\/svg\+xml)$/,
    )
  }
})

test.each(FILES)('a client that has %s gets 304', async (file) => {
  const path = pathOf(file)
  const tags = new Set<string>()
  for (const coding of ['identity', 'gzip', 'br']) {
    const asked = { 'accept-encoding': coding }
    const tag = String((await get(path, asked)).headers.get('etag'))
    tags.add(tag)
    for (const known of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
      const response = await get(path, { ...asked, 'if-none-match': known })
      expect(response.status).toBe(304)
      expect(response.headers.get('etag')).toBe(tag)
      expect(await response.text()).toBe('')
    }
    expect((await get(path, { ...asked, 'if-none-match': '"other"' })).status).toBe(200)
  }
  // Strong tags differ where the bytes differ (RFC 9110, section 8.8.3).
  expect(tags.size).toBe(3)
})

test('entity tags may have commas in them; malformed ones are ignored', async () => {
  const tag = String((await get('/')).headers.get('etag'))

  expect((await get('/', { 'if-none-match': `"a,b", ${tag}` })).status).toBe(304)
  for (const other of [`"a,${tag.slice(1)}`, tag.slice(1), 'abc', ''])
    expect((await get('/', { 'if-none-match': other })).status).toBe(200)
})

test.each(FILES)('%s is locked down by its headers', async (file) => {
  const path = pathOf(file)
  const { headers } = await get(path)
  const policy = String(headers.get('content-security-policy'))

  expect(policy.split('; ')).toEqual(
    expect.arrayContaining([
      "default-src 'none'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
      "form-action 'none'",
    ]),
  )
  expect(policy).not.toContain('unsafe')
  expect(policy).not.toMatch(/https?:|\*|data:|blob:/)
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.get('referrer-policy')).toBe('no-referrer')
  expect(headers.get('cross-origin-opener-policy')).toBe('same-origin')
  expect(headers.get('cache-control')).toBe('no-cache')
})

test.each([
  ['/', "worker-src 'self'", 'trusted-types workbook'],
  ['/console/workbook-worker.js', "worker-src 'none'", "trusted-types 'none'"],
  ['/docs', "worker-src 'none'", "trusted-types 'none'"],
  ['/docs/main.js', "worker-src 'none'", "trusted-types 'none'"],
])('%s has the policies %s and %s', async (path, threads, trusted) => {
  const { headers } = await get(path)
  const policy = String(headers.get('content-security-policy')).split('; ')

  expect(policy).toContain("require-trusted-types-for 'script'")
  const of = (name: string) => policy.filter((directive) => directive.startsWith(`${name} `))
  expect([of('worker-src'), of('trusted-types')]).toEqual([[threads], [trusted]])
})

test('the thread of workbooks may compile WebAssembly, but not run text as code', async () => {
  const { headers } = await get('/console/workbook-worker.js')
  const policy = String(headers.get('content-security-policy')).split('; ')

  expect(policy).toContain("script-src 'self' 'wasm-unsafe-eval'")
})

test.each(['/', '/console/main.js'])(
  'HEAD %s is answered as GET, without the body',
  async (path) => {
    const asked = { 'accept-encoding': 'br' }
    const whole = await get(path, asked)
    const head = await get(path, asked, 'HEAD')

    expect(head.status).toBe(200)
    expect(head.headers.get('etag')).toBe(whole.headers.get('etag'))
    expect(head.headers.get('content-length')).toBe(String((await whole.bytes()).length))
    expect(await head.text()).toBe('')
  },
)

test.each([
  ['the console', 53_000, () => ['/', ...linked]],
  ['the reference', 20_000, () => REFERENCE],
])('%s takes at most %d bytes, compressed as browsers ask for it', async (_, limit, paths) => {
  const all = await Promise.all(
    paths().map(async (path) => {
      const { headers } = await get(path, { 'accept-encoding': 'br' }, 'HEAD')
      return Number(headers.get('content-length'))
    }),
  )

  expect(all.every((bytes) => bytes > 0)).toBeTrue()
  expect(all.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(limit)
})

test.each([
  [['--no-console'], {}],
  [[], { PLANTSTORE_CONSOLE: 'false' }],
])('with %j %j there is no page, and the API is as it was', async (args, env) => {
  await using bare = await startDaemon({ args, env, database: folder.file('bare.db') })

  for (const path of ['/', '/console', ...linked, ...REFERENCE]) {
    await expectError(await bare.fetch(path), 40401)
  }
  expect((await bare.fetch('/health')).status).toBe(200)
  expect((await bare.fetch('/openapi.json')).status).toBe(200)
})

test.each([
  ['/console', '/'],
  ['/console/', '/'],
  ['/console/index.html', '/'],
  ['/docs/', '/docs'],
  ['/docs/index.html', '/docs'],
])('%s redirects to %s, by a relative link that works under any prefix', async (path, page) => {
  for (const method of ['GET', 'HEAD']) {
    const response = await fetch(`${daemon.url}${path}?tag=a%26b`, { method, redirect: 'manual' })
    const location = String(response.headers.get('location'))

    expect(response.status).toBe(308)
    expect(location).toStartWith('.')
    expect(new URL(location, `https://example.org/garden${path}`).href).toBe(
      `https://example.org/garden${page}?tag=a%26b`,
    )
  }
  expect(await expectError(await get(path, {}, 'POST'), 40501)).toBe('method not allowed')
})

test.each(['', '[', 'a b', 'a?b'])(
  'an address that is nearly one of a page is redirected with the Host %p too',
  async (host) => {
    const response = await once(daemon.port, head('GET /console?tag=€', { host }))

    expect(response?.status).toBe(308)
    expect(response?.headers.location).toBe('./?tag=%E2%82%AC')
  },
)
