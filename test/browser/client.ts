// The client in real browsers of Debian: `bun run test:browser`. It installs those that are missing, which needs root.
import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { temporaryFolder } from '../harness/daemon'
import { startOwnDaemon } from '../harness/own-daemon'
import { startProcess } from '../harness/process'
import { has } from '../release/lab'

const browsers = {
  chromium: (url: string, profile: string) => [
    'chromium',
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-dev-shm-usage',
    `--user-data-dir=${profile}`,
    url,
  ],
  'firefox-esr': (url: string, profile: string) => [
    'firefox-esr',
    '--headless',
    '--no-remote',
    '--profile',
    profile,
    url,
  ],
} as const

const { daemon } = await startOwnDaemon()
setDefaultTimeout(180_000)

// The page says what it found by a request, so that no browser needs to be driven.
const script = (url: string) => `
  import { createClient } from ${JSON.stringify(join(import.meta.dir, '../../src/client/client.ts'))}
  import { exercise } from ${JSON.stringify(join(import.meta.dir, '../client/scenario.ts'))}
  const tell = (result) => fetch('/result', { method: 'POST', body: JSON.stringify(result) })
  addEventListener('error', (event) => tell([event.message]))
  const client = createClient({ url: new URL(${JSON.stringify(url)}, location), token: ${JSON.stringify(daemon.token)} })
  exercise(client).then(tell, (error) => tell([String(error)]))`

let bundle = ''
beforeAll(async () => {
  using folder = temporaryFolder()
  const entry = folder.file('main.ts')
  await Bun.write(entry, script('/garden'))
  const { outputs } = await Bun.build({ entrypoints: [entry], target: 'browser' })
  bundle = (await outputs[0]?.text()) ?? ''
})

/** A page with the script, and the daemon below /garden/ of the same origin. */
function servePage() {
  const { promise, resolve } = Promise.withResolvers<unknown>()
  const page = '<!doctype html><meta charset="utf-8"><script type="module" src="main.js"></script>'
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 60,
    routes: {
      '/': new Response(page, { headers: { 'content-type': 'text/html' } }),
      '/main.js': () => new Response(bundle, { headers: { 'content-type': 'text/javascript' } }),
      '/result': async (request) => {
        resolve(await request.json())
        return new Response()
      },
      '/garden/*': (request) => {
        const { pathname, search } = new URL(request.url)
        return fetch(`${daemon.url}${pathname.slice('/garden'.length)}${search}`, request)
      },
    },
    fetch: () => new Response(null, { status: 404 }),
  })
  return {
    url: `http://127.0.0.1:${server.port}/`,
    result: promise,
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}

for (const [name, command] of Object.entries(browsers)) {
  test.skipIf(!(await has(name)))(`${name} writes and reads plants exactly`, async () => {
    using profile = temporaryFolder()
    await using page = servePage()
    await using browser = startProcess(command(page.url, profile.path))
    const ended = browser.finished.then((code) => `exit code ${code}: ${browser.err()}`)

    expect(await Promise.race([page.result, ended])).toEqual([])
  })
}
