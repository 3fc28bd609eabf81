// The service as the daemon makes it, with no option set and a store that is given: for tests and benchmarks.

import { listen, type Server } from '../src/daemon/listening/server.ts'
import { createApp } from '../src/http/app.ts'
import type { AppDeps } from '../src/http/deps.ts'
import { createMetrics } from '../src/metrics.ts'
import type { Store } from '../src/store.ts'
import { issueToken, type Token } from '../src/token/token.ts'

/** A token that may write, as PLANTSTORE_TOKEN gives it. */
export const configuredToken = (text: string): Token =>
  issueToken('configured', 'write', null, 0, text).token

/** The parts of an app: no log, no limit, no pages, and the machine's clock. */
export const depsOf = (store: Store, more: Partial<AppDeps> = {}): AppDeps => ({
  store,
  metrics: createMetrics(),
  service: { engine: 'sqlite', database: 'plants.db', backups: null, primaryUrl: null },
  log: () => {},
  now: Date.now,
  configuredToken: () => null,
  maxBodyBytes: 1_048_576,
  logRequests: false,
  clientOf: () => null,
  timeOut: () => {},
  rateLimit: null,
  countFiles: () => null,
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
