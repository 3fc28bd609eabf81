// Firefox, driven by its native protocol, WebDriver BiDi (https://w3c.github.io/webdriver-bidi/).
import { join } from 'node:path'
import { startProcess } from '../../../harness/process'
import { type Driver, inputBy } from './driver'

type Reply = { readonly id?: number; readonly result?: unknown; readonly message?: string }
type Send = <T>(method: string, params: object) => Promise<T>

/** Opens a connection, and resolves to `send`, which sends a command and resolves to its result. */
async function connect(url: string): Promise<{ readonly send: Send; close(): void }> {
  const socket = new WebSocket(url)
  const waiting = new Map<number, (reply: Reply) => void>()
  let sent = 0
  socket.onmessage = ({ data }) => {
    const reply: Reply = JSON.parse(String(data))
    waiting.get(reply.id ?? 0)?.(reply)
  }
  await new Promise((resolve, reject) => {
    socket.onopen = resolve
    socket.onerror = reject
  })
  return {
    async send<T>(method: string, params: object) {
      const id = ++sent
      const { promise, resolve } = Promise.withResolvers<Reply>()
      waiting.set(id, resolve)
      socket.send(JSON.stringify({ id, method, params }))
      const { result, message } = await promise
      waiting.delete(id)
      if (message !== undefined) throw new Error(`${method}: ${message}`)
      return result as T
    },
    close: () => socket.close(),
  }
}

type Evaluated = {
  readonly type: 'success' | 'exception'
  readonly result: { readonly value?: string; readonly sharedId?: string }
  readonly exceptionDetails?: { readonly text: string }
}

export async function startFirefox(folder: string, downloads: string): Promise<Driver> {
  const preferences = {
    'browser.download.dir': downloads,
    'browser.download.folderList': 2,
    'browser.download.alwaysOpenPanel': false,
    // A headless Firefox sometimes finds no mouse: declare a fine pointer (2) that hovers (4).
    'ui.primaryPointerCapabilities': 6,
    'ui.allPointerCapabilities': 6,
  }
  const lines = Object.entries(preferences).map(([name, value]) =>
    ['user_pref(', JSON.stringify(name), ', ', JSON.stringify(value), ');\n'].join(''),
  )
  await Bun.write(join(folder, 'user.js'), lines.join(''))
  const command = ['firefox-esr', '--headless', '--profile', folder, '--remote-debugging-port', '0']
  const firefox = startProcess(command, { env: { HOME: folder } })
  const address = () => /WebDriver BiDi listening on (ws:\S+)/.exec(firefox.err())?.[1]
  if (!(await firefox.prints(() => address() !== undefined)))
    throw new Error(`Firefox has ended: ${firefox.err()}`)
  const { send, close } = await connect(`${address()}/session`)
  const { capabilities } = await send<{ capabilities: { browserVersion: string } }>('session.new', {
    capabilities: {},
  })
  const tree = await send<{ contexts: { context: string }[] }>('browsingContext.getTree', {})
  const context = tree.contexts[0]?.context
  await send('browsingContext.setViewport', { context, viewport: { width: 1280, height: 900 } })

  async function evaluated(expression: string) {
    const { type, result, exceptionDetails } = await send<Evaluated>('script.evaluate', {
      expression,
      target: { context },
      awaitPromise: true,
    })
    if (type === 'exception') throw new Error(exceptionDetails?.text)
    return result
  }
  const perform = (actions: object) => send<void>('input.performActions', { context, actions })

  return {
    version: `Firefox ${capabilities.browserVersion}`,
    open: (url) => send('browsingContext.navigate', { context, url, wait: 'complete' }),
    async evaluate(expression) {
      const { value = 'null' } = await evaluated(`JSON.stringify(${expression})`)
      return JSON.parse(value)
    },
    ...inputBy(perform),
    async chooseFile(expression, path) {
      const { sharedId } = await evaluated(expression)
      await send('input.setFiles', { context, element: { sharedId }, files: [path] })
    },
    async [Symbol.asyncDispose]() {
      close()
      await firefox.kill()
    },
  }
}
