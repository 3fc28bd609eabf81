// The HTTP interface: the routes, and everything that they share.

import { InDoubtError, RequestError } from '../errors'
import { createAnswers } from './answers/answers'
import { answerError, toRequestError } from './answers/errors'
import { createBodies } from './bodies/body'
import { createDiscarder } from './bodies/refused-body'
import { createByteBudget } from './byte-budget'
import { awaitChange, CURSOR_HEADER } from './conditions/await-change'
import type { AppDeps, RouteDeps } from './deps'
import { allowedMethods } from './elysia'
import { Followers } from './feed/followers'
import { openapi } from './openapi'
import { createOptionsOf, newApp, type RequestContext } from './request-context'
import { createRequestLog } from './request-log'
import { changes } from './routes/changes'
import { onePlant } from './routes/one-plant'
import { health, metricsPage, ownToken, status } from './routes/operations'
import { pages } from './routes/pages'
import { plants } from './routes/plants'
import { tags } from './routes/tags'
import { authenticate } from './tokens/auth'

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

/** Refuses a request that no route takes. A browser's preflight has no token, and uses a method that no path has. */
function refuseRoute({ cors }: AppDeps, request: Request): Response {
  const preflight = cors?.answerPreflight(request)
  if (preflight) return preflight
  const allow = allowedMethods(request)
  if (allow === undefined) throw new RequestError('no such path')
  throw new RequestError('method not allowed', undefined, { headers: { allow } })
}

/** Returns the functions that count, log and complete each answer. */
function createObserver(
  appDeps: AppDeps,
  { isShort, discardRest }: ReturnType<typeof createDiscarder>,
) {
  const { metrics, log, clientOf, stopping } = appDeps
  const requestLog = appDeps.logRequests ? createRequestLog(log, clientOf) : null

  function observe(
    { request, route, token, entry, startedAt = performance.now() }: Exchange,
    response: Response,
  ): void {
    const milliseconds = performance.now() - startedAt
    const { method } = request
    metrics.countAnswer(method, route, response.status, milliseconds)
    addHeaders(appDeps, request, response)
    if (entry) requestLog?.end(entry, token, request, response, milliseconds)
    // With any other method, the body is read before the answer.
    const isUnread = UNREAD_METHODS.has(method) && !isShort(request)
    if (stopping.aborted || isUnread) response.headers.set('connection', 'close')
  }

  async function refuse(exchange: Exchange, error: unknown): Promise<Response> {
    const { request } = exchange
    const refusal = toRequestError(error, log)
    if (refusal.error === 'invalid token') metrics.countFailedCredentials()
    const isRead = await discardRest(request)
    const isGone = refusal.error === 'busy' && request.signal.aborted
    const response = isGone ? new Response(null, { status: CLIENT_GONE }) : answerError(refusal)
    if (!isRead) response.headers.set('connection', 'close')
    observe(exchange, response)
    return response
  }

  return { requestLog, observe, refuse }
}

// An app of its own: its hooks do not apply to the routes of the app that uses it.
const withToken = (deps: RouteDeps) =>
  newApp()
    .use(authenticate(deps))
    .use(awaitChange(deps.store))
    .use(ownToken(deps))
    .use(status(deps))
    .use(metricsPage(deps))
    .use(plants(deps))
    .use(tags(deps))
    .use(changes(deps))
    .use(onePlant(deps))

export function createApp(appDeps: AppDeps) {
  const { store, maxBodyBytes, timeOut } = appDeps
  const budget = createByteBudget(maxBodyBytes)
  const deps = {
    ...appDeps,
    budget,
    answers: createAnswers(budget, timeOut),
    bodies: createBodies(maxBodyBytes, budget),
    followers: new Followers({ ...appDeps, budget }),
    optionsOf: createOptionsOf(store, appDeps.clientOf),
  }
  const { requestLog, observe, refuse } = createObserver(
    appDeps,
    createDiscarder(maxBodyBytes, budget),
  )

  return (
    newApp()
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
        if (error instanceof InDoubtError) return await leaveUnanswered(appDeps, request)
        return await refuse({ request, route, token, startedAt, entry }, error)
      })
      .use(openapi)
      .use(health(deps))
      .use(pages(deps))
      .all('/*', ({ request }) => refuseRoute(appDeps, request))
      .use(withToken(deps))
  )
}
