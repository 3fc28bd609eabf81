// The client in a page of another origin, with the daemon below a path prefix: `bun run test:browser`.
import { afterAll, beforeAll, expect, setDefaultTimeout } from 'bun:test'
import { join } from 'node:path'
import { root } from '../../../harness/daemon'
import { ownTasks, test } from './browsers'

let bundle = ''
const site = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  routes: {
    '/': () =>
      new Response('<!doctype html><script type="module" src="main.js"></script>', {
        headers: { 'content-type': 'text/html' },
      }),
    '/main.js': () => new Response(bundle, { headers: { 'content-type': 'text/javascript' } }),
    '/garden/*': (request) => {
      const { pathname, search } = new URL(request.url)
      return fetch(`${daemon.url}${pathname.slice('/garden'.length)}${search}`, request)
    },
  },
})
afterAll(() => site.stop(true))
const { daemon, folder, person } = ownTasks([
  ...['--cors-origin', site.url.origin],
  ...['--keep-changes', '1d'],
])
setDefaultTimeout(180_000)

beforeAll(async () => {
  const script = `
    import { createClient } from ${JSON.stringify(join(root, 'src/client/client.ts'))}
    import { exercise } from ${JSON.stringify(join(root, 'test/client/scenario.ts'))}
    const exerciseAll = async () => {
      const found = []
      for (const url of ['/garden', '${daemon.url}']) {
        const client = createClient({ url: new URL(url, location), token: '${daemon.token}' })
        found.push(await exercise(client))
      }
      return found
    }
    exerciseAll().catch(String).then((found) => Object.assign(window, { found }))`
  await Bun.write(folder.file('main.ts'), script)
  const built = await Bun.build({ entrypoints: [folder.file('main.ts')], target: 'browser' })
  bundle = (await built.outputs[0]?.text()) ?? ''
})

test('the client writes and reads plants exactly', async () => {
  await person.open(site.url.href)
  expect(await person.until('result', () => person.evaluate('window.found ?? null'))).toEqual([
    [],
    [],
  ])
})
