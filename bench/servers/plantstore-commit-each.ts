// plantstore's own server and storage without group commit: each create is a commit of its own.
import { toRow } from '../../src/engine/sqlite/apply-change.ts'
import { filesOf, openForWriting } from '../../src/engine/sqlite/committer.ts'
import { openSqlite } from '../../src/engine/sqlite/store.ts'
import { PlantError } from '../../src/errors.ts'
import { createApp } from '../../src/http/app.ts'
import { listen } from '../../src/http/server.ts'
import { createMetrics } from '../../src/metrics.ts'
import { hashToken } from '../../src/token.ts'

const [port, file = '', token = ''] = process.argv.slice(2)
const BUSY_MS = 1000
const TIDY_EVERY = 100

const log = () => {}
const store = openSqlite(file, { exclusive: true, log })
const writing = openForWriting(filesOf(file), BUSY_MS)
let commits = 0

const app = createApp({
  store: {
    ...store,
    async createPlant(plant) {
      if (writing.write([['create', toRow(plant)]]) !== 'done') throw new PlantError(50302)
      commits += 1
      if (commits % TIDY_EVERY === 0) writing.tidy()
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
  }),
  maxBodyBytes: 1_048_576,
  logRequests: false,
  isStopping: () => false,
})
listen(app, { host: '127.0.0.1', port: Number(port) }, log)
