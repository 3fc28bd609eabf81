// A page of an origin that --cors-origin does not allow, in a real Chromium. everyday/client.test.ts tests an allowed
// one.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { startDaemon, TOKEN } from '../../harness/daemon'
import { own } from '../../harness/own'
import { ownFolder } from '../../harness/own-folder'
import { ownBrowser } from './console-page'
import { visit } from './visit'

const folder = ownFolder()
const browser = ownBrowser()
setDefaultTimeout(120_000)
const site = own(
  () => Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('Another site') }),
  (it) => it.stop(true),
)

type Init = { method?: string; headers?: Record<string, string>; body?: string }

test.each([
  // The same server under another name is another origin.
  ['another origin', 'localhost', true],
  ['any origin without the option', '127.0.0.1', false],
])('a page of %s reads nothing and changes nothing', async (_, host, isOptionGiven) => {
  const args = isOptionGiven ? ['--cors-origin', `http://127.0.0.1:${site.port}`] : []
  await using daemon = await startDaemon({ database: folder.file(`${host}.db`), args })
  await daemon.create('{"id":1,"name":"Rose"}')
  await using visited = await visit(browser, `http://${host}:${site.port}`)
  /** Returns what a script of the page can see of a response. */
  const send = (path: string, init: Init = {}) =>
    visited.page.evaluate(({ url, init }) => fetch(url, init).then(String, String), {
      url: daemon.url + path,
      init,
    })
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
  const refused = expect.stringContaining('TypeError')

  expect(await send('/health')).toEqual(refused)
  expect(await send('/plants/1', { headers })).toEqual(refused)
  expect(await send('/plants/1', { method: 'DELETE', headers })).toEqual(refused)
  const body = '{"id":2,"name":"Oak"}'
  expect(await send('/plants', { method: 'POST', headers, body })).toEqual(refused)
  expect(await (await daemon.fetch('/plants')).text()).toBe(
    '{"plants":[{"id":1,"name":"Rose"}],"next":null}',
  )
})
