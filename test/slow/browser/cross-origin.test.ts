// A page of another origin that --cors-origin does not allow, in a real Chromium. client.test.ts has one that it allows.
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
