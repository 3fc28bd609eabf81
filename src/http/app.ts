// The HTTP interface: the routes, and everything that they share.

import { type ErrorName, InDoubtError, RequestError } from '../errors'
import type { Log } from '../log'
import type { Metrics, OpenFiles } from '../metrics'
import type { Store } from '../store'
import type { Token } from '../token/token'
import { createAnswerBudget } from './answers/answer-budget'
import { answerError, toRequestError } from './answers/errors'
import { createBodies } from './bodies/body'
import { createDiscarder } from './bodies/refused-body'
import { awaitChange, CURSOR_HEADER } from './conditions/await-change'
import type { Cors } from './cors'
import { allowedMethods } from './elysia'
import { Followers } from './feed/followers'
import { openapi } from './openapi'
import { createOptionsOf, newApp, type RequestContext } from './request-context'
import { createRequestLog } from './request-log'
import { changes } from './routes/changes'
import { onePlant } from './routes/one-plant'
import { health, operations, type Service } from './routes/operations'
import { ownToken } from './routes/own-token'
import { type PageFile, pages } from './routes/pages'
import { type PlantDeps, plants } from './routes/plants'
import { authenticate } from './tokens/auth'
import { createRateLimit } from './tokens/rate-limit'

export type AppDeps = {
  readonly store: Store
  readonly metrics: Metrics
  readonly service: Service
  readonly log: Log
  /** Milliseconds since 1970, for the expiry of tokens. */
  readonly now: () => number
  /** The token of the configuration, accepted alongside those of the store. */
  readonly configuredToken: () => Token | null
  readonly maxBodyBytes: number
  /** True if each request is logged. */
  readonly logRequests: boolean
  /** The address of a request's client; null if there is none. */
  readonly clientOf: (request: Request) => string | null
  /** Closes the connection of a request after this many seconds without progress. */
  readonly timeOut: (request: Request, seconds: number) => void
  /** Requests per second for each token; null for no limit. */
  readonly rateLimit: number | null
  /** Counts the open files and connections of this process; null if that is impossible. */
  readonly countFiles: () => OpenFiles | null
  /** The other origins whose pages may call; null for none. */
  readonly cors: Cors | null
  /** The max-age of Strict-Transport-Security, in milliseconds (RFC 6797); null omits the header. */
  readonly hsts: number | null
  /** The files of the console and the reference; null if they are disabled. */
  readonly loadPages: (() => Promise<readonly PageFile[]>) | null
  /** Aborted when the daemon stops: answers then close their connections. */
  readonly stopping: AbortSignal
}

/** The facts about a request when it is answered. */
type Exchange = RequestContext & {
  readonly route: string
  readonly startedAt: number | undefined
}

// The status in logs and metrics, as in nginx's; no client receives this answer.
const CLIENT_GONE = 499

const UNREAD_METHODS = new Set(['GET', 'HEAD', 'OPTIONS'])

const repeatedHost = () =>
  new RequestError('invalid', 'send one Host header', { headers: { connection: 'close' } })

/** Adds the headers that an answer of any route may have. */
function addHeaders(
  { store, cors, hsts, now }: AppDeps,
  request: Request,
  response: Response,
): void {
  const { method } = request
  const cursor = !UNREAD_METHODS.has(method) && response.ok && store.changeLog?.lastCursor?.()
  if (cursor) response.headers.set(CURSOR_HEADER, cursor)
  cors?.expose(request, response)
  // Bun adds a date to every other answer (RFC 9110, section 6.6.1).
  if (method === 'HEAD') response.headers.set('date', new Date(now()).toUTCString())
  if (hsts !== null) {
    response.headers.set('strict-transport-security', `max-age=${Math.floor(hsts / 1000)}`)
  }
}

/** Closes the connection of a request without an answer. On a unix socket, that takes as long as for an idle one. */
function leaveUnanswered({ timeOut }: AppDeps, request: Request): Promise<never> {
  timeOut(request, 1)
  return new Promise(() => {})
}

/** The routes of plants and their changes. On a replica, a read may wait for a change. */
const plantRoutes = (deps: PlantDeps & { readonly followers: Followers }) =>
  newApp().use(awaitChange(deps.store)).use(plants(deps)).use(onePlant(deps)).use(changes(deps))

export function createApp(deps: AppDeps) {
  const { store, metrics, log, now, cors, stopping } = deps
  const requestLog = deps.logRequests ? createRequestLog(log, deps.clientOf) : null
  const rateLimit = deps.rateLimit === null ? null : createRateLimit(deps.rateLimit, now)
  const answerBudget = createAnswerBudget(deps.timeOut)
  const followers = new Followers({ ...deps, answerBudget })
  const optionsOf = createOptionsOf(store, deps.clientOf)
  const bodies = createBodies(deps.maxBodyBytes)
  const { isShort, discardRest } = createDiscarder(deps.maxBodyBytes)

  function observe(
    { request, route, token, entry, startedAt = performance.now() }: Exchange,
    response: Response,
  ): void {
    const milliseconds = performance.now() - startedAt
    const { method } = request
    metrics.countAnswer(method, route, response.status, milliseconds)
    addHeaders(deps, request, response)
    if (entry) requestLog?.end(entry, token, request, response, milliseconds)
    // With any other method, the body is read before the answer.
    const isUnread = UNREAD_METHODS.has(method) && !isShort(request)
    if (stopping.aborted || isUnread) response.headers.set('connection', 'close')
  }

  // A browser's preflight has no token, and uses a method that no path has.
  function refuseRoute(request: Request, error: ErrorName, headers = {}): Response {
    const preflight = cors?.answerPreflight(request)
    if (preflight) return preflight
    throw new RequestError(error, undefined, { headers })
  }

  const app = newApp()
    // Elysia inspects the source of each hook, prepares only the destructured fields, and awaits an arrow function.
    .onTransform({ as: 'global' }, function begin(context) {
      const { request, headers } = context
      context.startedAt = performance.now()
      context.entry = requestLog?.begin(request)
      // Bun joins repeated fields by a comma and a space, which no host has (RFC 9112, section 3.2).
      if (headers.host?.includes(', ')) throw repeatedHost()
    })
    .onAfterHandle(
      { as: 'global' },
      function end({ request, route, token, startedAt, entry, responseValue }) {
        if (responseValue instanceof Response)
          observe({ request, route, token, startedAt, entry }, responseValue)
      },
    )
    .onError(async ({ request, route, token, startedAt, entry, error }) => {
      if (error instanceof InDoubtError) return await leaveUnanswered(deps, request)
      const refusal = toRequestError(error, log)
      if (refusal.error === 'invalid token') metrics.countFailedCredentials()
      const isRead = await discardRest(request)
      const isGone = refusal.error === 'busy' && request.signal.aborted
      const response = isGone ? new Response(null, { status: CLIENT_GONE }) : answerError(refusal)
      if (!isRead) response.headers.set('connection', 'close')
      observe({ request, route, token, startedAt, entry }, response)
      return response
    })
    .use(health(store))
    .use(openapi)

  const plantDeps = { store, metrics, bodies, answerBudget, optionsOf, followers }
  // The hooks of an app apply to its own routes, and to those of the apps within.
  app.use(
    newApp()
      .use(authenticate({ ...deps, rateLimit }))
      .use(ownToken(store))
      .use(operations({ ...deps, answerBudget, followers }))
      .use(plantRoutes(plantDeps)),
  )
  if (deps.loadPages) app.use(pages(deps.loadPages))
  // Each path also answers the methods that it lacks, so that `/plants/batch` is never a plant with the id "batch".
  for (const [path, allow] of allowedMethods(app)) {
    app.all(path, ({ request }) => refuseRoute(request, 'method not allowed', { allow }))
  }
  return app.all('/*', ({ request }) => refuseRoute(request, 'no such path'))
}
