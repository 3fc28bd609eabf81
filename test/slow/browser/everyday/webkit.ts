// WebKitGTK, driven by WebDriver (https://www.w3.org/TR/webdriver2/), on a virtual display.

import { join } from 'node:path'
import { freePort } from '../../../../tools/free-port'
import { startProcess } from '../../../harness/process'
import { inTime, until } from '../../../harness/until'
import { type Driver, inputBy } from './driver'

// After a page crash, the driver no longer responds.
const PATIENCE_MS = 15_000
// With two other browsers on two cores, WebKit may need half a minute to start.
const START_MS = 50_000
const ELEMENT = 'element-6066-11e4-a52e-4f735466cecf'

type Value<T> = { readonly value: T & { readonly message?: string } }

/** Sends a command to a driver; resolves to its value. */
async function command<T>(
  method: string,
  url: string,
  body?: object,
  withinMs = PATIENCE_MS,
): Promise<T> {
  const sent = JSON.stringify(body)
  const asking = fetch(url, { method, ...(body ? { body: sent } : {}) })
  const response = await inTime(() => `${method} ${url} ${sent}`, asking, withinMs)
  const { value }: Value<T> = await response.json()
  if (!response.ok) throw new Error(`${method} ${url}: ${value.message}`)
  return value
}

type Session = {
  readonly sessionId: string
  readonly capabilities: { readonly browserVersion: string }
}

/** Starts a virtual display; resolves to its name. */
async function startDisplay() {
  const server = startProcess([
    'Xvfb',
    '-displayfd',
    '1',
    '-nolisten',
    'tcp',
    '-screen',
    '0',
    '1280x1000x24',
  ])
  if (!(await server.prints(() => server.out().endsWith('\n'))))
    throw new Error(`Xvfb has ended: ${server.err()}`)
  return { name: `:${server.out().trim()}`, end: server.kill }
}

export async function startWebKit(folder: string, downloads: string): Promise<Driver> {
  await Bun.write(join(folder, 'user-dirs.dirs'), `XDG_DOWNLOAD_DIR="${downloads}"\n`)
  const display = await startDisplay()
  const port = freePort()
  const driver = startProcess(['WebKitWebDriver', `--port=${port}`], {
    env: {
      HOME: folder,
      DISPLAY: display.name,
      XDG_CONFIG_HOME: folder,
      // Without a graphics card, compositing takes 40 % of the processor time of a test.
      WEBKIT_DISABLE_COMPOSITING_MODE: '1',
    },
  })
  const base = `http://127.0.0.1:${port}`
  const isReady = () =>
    command('GET', `${base}/status`).then(
      () => true,
      () => false,
    )
  // The driver prints nothing once it listens.
  await until('WebKitWebDriver', async () => !driver.alive() || (await isReady()))
  const { sessionId, capabilities } = await command<Session>(
    'POST',
    `${base}/session`,
    { capabilities: {} },
    START_MS,
  )
  const session = `${base}/session/${sessionId}`
  const send = <T>(path: string, body: object) => command<T>('POST', session + path, body)
  await send('/window/rect', { width: 1280, height: 1000 })

  const evaluate = (expression: string) =>
    send<unknown>('/execute/sync', { script: `return ${expression}`, args: [] })
  const perform = async (actions: object) => {
    await send('/actions', { actions })
  }

  return {
    version: `WebKitGTK ${capabilities.browserVersion}`,
    open: (url) => send('/url', { url }),
    evaluate,
    ...inputBy(perform),
    async chooseFile(expression, path) {
      const { [ELEMENT]: element } = (await evaluate(expression)) as { [ELEMENT]: string }
      await send(`/element/${element}/value`, { text: path })
    },
    async [Symbol.asyncDispose]() {
      // Ending the session ends the browser.
      await command('DELETE', session).catch(() => {})
      await driver.kill()
      await display.end()
    },
  }
}
