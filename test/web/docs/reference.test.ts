// The API reference at /docs as it is delivered; test/slow/browser looks at it in a browser.
import { expect, test } from 'bun:test'
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

test('the reference takes at most 20 kB, compressed', async () => {
  const sizes = files.map(async (path) => {
    const { headers } = await get(path, { 'accept-encoding': 'br' }, 'HEAD')
    return Number(headers.get('content-length'))
  })
  const all = await Promise.all(sizes)

  expect(all.every((bytes) => bytes > 0)).toBeTrue()
  expect(all.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(LARGEST_PAGE_BYTES)
})

test.each(files)('%s refuses other methods than GET and HEAD', async (path) => {
  for (const method of ['POST', 'PUT', 'DELETE']) {
    const refused = await get(path, {}, method)
    expect(refused.headers.get('allow')).toBe('GET, HEAD')
    await expectError(refused, 40501)
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
