// plantstore's own server and storage without group commit: a create waits until the one before it is on the disk.
import { openStore } from '../../src/engine/engine.ts'
import { daemon } from '../../src/engine/role.ts'
import { createApp } from '../../src/http/app.ts'
import { listen } from '../../src/http/server.ts'
import { createMetrics } from '../../src/metrics.ts'
import { hashToken } from '../../src/token.ts'

const [port, file = '', token = ''] = process.argv.slice(2)

const log = () => {}
const store = await openStore(
  file,
  daemon(log, () => {}),
)
let last: Promise<unknown> = Promise.resolve()

const app = createApp({
  store: {
    ...store,
    createPlant(plant) {
      const create = () => store.createPlant(plant)
      const created = last.then(create, create)
      last = created
      return created
    },
  },
  metrics: createMetrics(),
  log,
  now: Date.now,
  configuredToken: () => ({
    name: 'bench',
    hash: hashToken(token),
    scope: 'write',
    createdAt: 0,
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
  }),
  maxBodyBytes: 1_048_576,
  logRequests: false,
  rateLimit: null,
  cors: null,
  hsts: null,
  loadPages: null,
  clientOf: () => null,
  timeOut: () => {},
  stopping: new AbortController().signal,
})
listen(app, { host: '127.0.0.1', port: Number(port) }, log)
