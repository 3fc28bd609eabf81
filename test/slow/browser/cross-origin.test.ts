// A page of another origin, in a real Chromium: what --cors-origin lets it do, and nothing else does.
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { startDaemon, TOKEN } from '../../harness/daemon'
import { ownFolder } from '../../harness/own-folder'
import { ownBrowser } from './console-page'
import { visit } from './visit'

const folder = ownFolder()
const browser = ownBrowser()
setDefaultTimeout(120_000)
const site = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: () =>
    new Response('<!doctype html><title>Another site</title>', {
      headers: { 'content-type': 'text/html' },
    }),
})
const allowed = `http://127.0.0.1:${site.port}`
// The same server under another name is another origin.
const other = `http://localhost:${site.port}`
afterAll(() => site.stop(true))

const start = (name: string, ...args: string[]) =>
  startDaemon({ database: folder.file(name), args: ['--log-requests', ...args] })

type Sent = { readonly method?: string; readonly headers?: Record<string, string>; body?: string }

/** Has the page fetch; resolves to all that its script can read, or to the error that it sees. */
const fetchIn = (page: Page, url: string, init: Sent = {}) =>
  page.evaluate(
    async ({ url, init, token }) => {
      try {
        const headers = { authorization: `Bearer ${token}`, ...init.headers }
        const answer = await fetch(url, { ...init, headers })
        return {
          status: answer.status,
          headers: Object.fromEntries(answer.headers),
          text: await answer.text(),
        }
      } catch (error) {
        return { status: 0, headers: {} as Record<string, string>, text: String(error) }
      }
    },
    { url, init, token: TOKEN },
  )

const json = { 'content-type': 'application/json' }

test('a page of an allowed origin creates, reads, patches and deletes, and reads refusals', async () => {
  const args = ['--cors-origin', allowed, '--rate-limit', '1000', '--max-body-bytes', '1000']
  await using daemon = await start('allowed.db', ...args)
  await using visited = await visit(browser, allowed)
  const send = (path: string, init?: Sent) => fetchIn(visited.page, `${daemon.url}${path}`, init)
  const create = (body: string) => send('/plants', { method: 'POST', headers: json, body })

  expect(await create('{"id":9007199254740993,"name":"Rose"}')).toMatchObject({ status: 200 })
  expect(await create('{"id":1,"name":"Lily"}')).toMatchObject({ status: 200 })
  const page = await send('/plants?limit=1', { headers: { 'x-request-id': 'of-the-page' } })
  expect(page).toMatchObject({
    status: 200,
    headers: { link: '<?limit=1&after=1>; rel="next"', 'x-request-id': 'of-the-page' },
  })

  const read = await send('/plants/9007199254740993')
  const etag = read.headers.etag ?? ''
  expect(etag).toStartWith('"')
  const patch = (tag: string) =>
    send('/plants/9007199254740993', {
      method: 'PATCH',
      headers: { 'content-type': 'application/merge-patch+json', 'if-match': etag },
      body: JSON.stringify({ tag }),
    })
  expect(await patch('a')).toMatchObject({
    status: 200,
    text: '{"id":9007199254740993,"name":"Rose","tag":"a"}',
  })
  expect(await patch('b')).toMatchObject({ status: 412, text: expect.stringContaining('41201') })
  expect(await send('/plants/1', { method: 'DELETE' })).toMatchObject({ status: 204 })

  const unknown = await send('/plants', { headers: { authorization: 'Bearer unknown-token' } })
  expect(unknown).toMatchObject({ status: 401, text: expect.stringContaining('40102') })
  expect(unknown.headers['www-authenticate']).toContain('invalid_token')
  expect(await send('/nowhere', { method: 'PUT' })).toMatchObject({ status: 404 })
  expect(await send('/plants', { method: 'PUT' })).toMatchObject({ status: 405 })
  expect(await create('{"id":2')).toMatchObject({ status: 400 })
  expect(await create('{"id":9007199254740993,"name":"Oak"}')).toMatchObject({ status: 409 })
  expect(await create(`{"id":2,"name":"${'a'.repeat(1000)}"}`)).toMatchObject({ status: 413 })

  // Asked once for each method and path: the browser keeps the answer.
  const asked = daemon
    .events()
    .filter(({ event, method, path }) => `${event} ${method} ${path}` === 'request OPTIONS /plants')
  expect(asked.length).toBeWithin(1, 5)
})

test.each([
  ['another origin', other, ['--cors-origin', allowed]],
  ['any origin without the option', allowed, []],
] as const)('a page of %s reads nothing and changes nothing', async (_, origin, args) => {
  await using daemon = await start(`refused-${args.length}.db`, ...args)
  await daemon.create('{"id":1,"name":"Rose"}')
  await using visited = await visit(browser, origin)
  const send = (path: string, init?: Sent) => fetchIn(visited.page, `${daemon.url}${path}`, init)
  const refused = { status: 0, text: expect.stringContaining('TypeError') }

  expect(await send('/plants/1')).toMatchObject(refused)
  expect(await send('/plants/1', { method: 'DELETE' })).toMatchObject(refused)
  const body = '{"id":2,"name":"Oak"}'
  expect(await send('/plants', { method: 'POST', headers: json, body })).toMatchObject(refused)
  const simple = `${daemon.url}/health`
  expect(await visited.page.evaluate((url) => fetch(url).then(String, String), simple)).toContain(
    'TypeError',
  )
  expect(await (await daemon.fetch('/plants')).text()).toBe(
    '{"plants":[{"id":1,"name":"Rose"}],"next":null}',
  )
})
