// The client in real browsers of Debian: `bun run test:browser`. It installs those that are missing, which needs root.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { temporaryFolder } from '../../harness/daemon'
import { ownDaemon } from '../../harness/own-daemon'
import { startProcess } from '../../harness/process'
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

const page = servePage()
afterAll(() => page.stop())
const { daemon } = ownDaemon({
  args: ['--cors-origin', page.origin, '--keep-changes', '1d'],
})
setDefaultTimeout(180_000)

// The page says what it found by a request, so that no browser needs to be driven.
const script = (urls: readonly string[]) => `
  import { createClient } from ${JSON.stringify(join(import.meta.dir, '../../../src/client/client.ts'))}
  import { exercise } from ${JSON.stringify(join(import.meta.dir, '../../client/scenario.ts'))}
  const tell = (result) => fetch('/result', { method: 'POST', body: JSON.stringify(result) })
  const exerciseAll = async () => {
    const found = {}
    for (const url of ${JSON.stringify(urls)}) {
      const client = createClient({ url: new URL(url, location), token: '${daemon.token}' })
      found[url] = await exercise(client)
    }
    return found
  }
  exerciseAll().then(tell, (error) => tell(String(error)))`

/** A page of another origin than the daemon, which is also below /garden/ of its own. */
function servePage() {
  const html = '<!doctype html><meta charset="utf-8"><script type="module" src="main.js"></script>'
  let bundle = ''
  let tell: (result: unknown) => void = () => {}
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    routes: {
      '/': () => new Response(html, { headers: { 'content-type': 'text/html' } }),
      '/main.js': () => new Response(bundle, { headers: { 'content-type': 'text/javascript' } }),
      '/result': async (request) => {
        tell(await request.json())
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
    origin: `http://127.0.0.1:${server.port}`,
    async bundle(text: string): Promise<void> {
      using folder = temporaryFolder()
      await Bun.write(folder.file('main.ts'), text)
      const built = await Bun.build({ entrypoints: [folder.file('main.ts')], target: 'browser' })
      bundle = (await built.outputs[0]?.text()) ?? ''
    },
    /** The result of the next browser. */
    result: () =>
      new Promise<unknown>((resolve) => {
        tell = resolve
      }),
    stop: () => server.stop(true),
  }
}

const urls = () => ['/garden', daemon.url]
beforeAll(() => page.bundle(script(urls())))

for (const [name, command] of Object.entries(browsers)) {
  test.skipIf(!(await has(name)))(`${name} writes and reads plants exactly`, async () => {
    using profile = temporaryFolder()
    const result = page.result()
    await using browser = startProcess(command(page.origin, profile.path))
    const ended = browser.finished.then((code) => `exit code ${code}: ${browser.err()}`)

    expect(await Promise.race([result, ended])).toEqual(
      Object.fromEntries(urls().map((url) => [url, []])),
    )
  })
}
