// The service in the test's own process, over a store that the test makes up or opens.
import { listen, type Server } from '../../src/daemon/listening/server'
import { openStore } from '../../src/engine/engine'
import { storeOwner } from '../../src/engine/store-user'
import { createApp } from '../../src/http/app'
import type { AppDeps } from '../../src/http/deps'
import { createMetrics } from '../../src/metrics'
import type { Store } from '../../src/store'
import { issueToken, type Token } from '../../src/token/token'
import { TOKEN } from './daemon'
import { own } from './own'
import { ownFolder } from './own-folder'

/** A token that may write, as PLANTSTORE_TOKEN gives it. */
export const configuredToken = (text: string): Token =>
  issueToken('configured', 'write', null, 0, text).token

/** The parts of an app: no log, no limit, no pages, and the machine's clock. */
export const depsOf = (store: Store, more: Partial<AppDeps> = {}): AppDeps => ({
  store,
  metrics: createMetrics(),
  service: {
    engine: 'sqlite',
    database: 'plants.db',
    lastBackupAt: () => null,
    certificateExpiry: null,
    primaryUrl: null,
  },
  log: () => {},
  now: Date.now,
  configuredToken: () => null,
  maxBodyBytes: 1_048_576,
  logRequests: false,
  clientOf: () => null,
  timeOut: () => {},
  rateLimit: null,
  cors: null,
  hsts: null,
  loadPages: null,
  stopping: new AbortController().signal,
  ...more,
})

/** Serves a store on a loopback port, through the router of the daemon; 0 takes a free one. */
export function serveStore(store: Store, more: Partial<AppDeps> = {}, port = 0) {
  const deps = depsOf(store, {
    timeOut: (request, seconds) => server.timeOut(request, seconds),
    ...more,
  })
  const server: Server = listen(createApp(deps), { host: '127.0.0.1', port }, deps.log)
  return { url: `http://127.0.0.1:${server.port}`, end: () => server.drain(0) }
}

const ignore = () => {}

/** A store with a change log, in a file of its own, for the test file that calls it. */
export function ownStore(): Store {
  const folder = ownFolder()
  return own(
    () => openStore(folder.file('plants.db'), storeOwner(ignore, ignore, 60_000)),
    (store) => store.close(),
  )
}

/** Serves a store. `await using service = serve(…)` ends it. */
export function serve(store: Store, more: Partial<AppDeps> = {}) {
  const token = configuredToken(TOKEN)
  const { url, end } = serveStore(store, { configuredToken: () => token, ...more })
  return {
    url,
    /** Sends a request with a token, of which TOKEN is the default. */
    fetch: (path: string, { token = TOKEN, ...init }: RequestInit & { token?: string } = {}) =>
      fetch(`${url}${path}`, {
        ...init,
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      }),
    [Symbol.asyncDispose]: end,
  }
}

/** Serves a store that has only these methods. */
export const serveFake = (store: Partial<Store>, more: Partial<AppDeps> = {}) =>
  serve({ stats: () => ({}), ...store } as Store, more)
