// plantstore's own parts, so many of them that their CPU per create can be told apart: `bun run ledger`.

import { join } from 'node:path'
import { listen } from '../../src/daemon/listening/server.ts'
import { GroupCommit } from '../../src/engine/commit/group-commit.ts'
import { LIMITS, plantChanges } from '../../src/engine/commit/plant-writes.ts'
import { DONE } from '../../src/engine/commit/write.ts'
import { openStore } from '../../src/engine/engine.ts'
import { storeOwner } from '../../src/engine/store-user.ts'
import { authenticate } from '../../src/http/access/auth.ts'
import { jsonHeaders } from '../../src/http/answers/answer.ts'
import { createAnswerBudget } from '../../src/http/answers/answer-budget.ts'
import { createApp } from '../../src/http/app.ts'
import { createBodies } from '../../src/http/bodies/body.ts'
import { plants } from '../../src/http/routes/plants.ts'
import { parseBody } from '../../src/plant/json.ts'
import type { Plant } from '../../src/plant/plant.ts'
import type { Store } from '../../src/store.ts'
import { configured, depsOf } from '../../tools/service.ts'

// That of src/: the peers have one of their own, which does not know its schemas.
const path = Bun.resolveSync('elysia', join(import.meta.dir, '../../src'))
const { Elysia }: typeof import('elysia') = await import(path)

const [part = '', port, file = '', text = ''] = process.argv.slice(2)

const token = configured(text)
const log = () => {}
const store = await openStore(
  file,
  storeOwner(log, () => {}),
)
const nothing: Store = { ...store, createPlant: async () => {} }
const grouping: Store = {
  ...store,
  ...plantChanges(new GroupCommit(async (batch) => batch.map(() => DONE), LIMITS)),
}
const deps = depsOf(store, { configuredToken: () => token })
const routes = plants({
  store: nothing,
  metrics: deps.metrics,
  bodies: createBodies(deps.maxBodyBytes),
  answerBudget: createAnswerBudget(deps.timeOut),
  optionsOf: ({ request: { signal } }) => ({ signal }),
})

// The parts of a request and its answer that a create uses, without Elysia: headers, bytes, and the client's
// disconnect.
async function echo(request: Request): Promise<Response> {
  const { signal } = request
  const { authorization } = request.headers.toJSON()
  const plant = parseBody(await request.bytes()) as Plant
  if (signal.aborted || authorization === undefined) throw new Error('the client disconnected')
  return new Response(JSON.stringify({ ...plant, id: undefined }), { headers: jsonHeaders })
}

const apps = {
  validation: () => new Elysia().use(routes),
  credentials: () => new Elysia().use(authenticate({ ...deps, rateLimit: null })).use(routes),
  metrics: () => createApp({ ...deps, store: nothing }),
  'group-commit': () => createApp({ ...deps, store: grouping }),
  storage: () => createApp(deps),
}
const at = { hostname: '127.0.0.1', port: Number(port) }
if (part === 'request') Bun.serve({ ...at, routes: { '/plants': { POST: echo } } })
else listen(apps[part as keyof typeof apps](), { host: at.hostname, port: at.port }, log)
