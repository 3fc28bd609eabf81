// The HTTP interface: the routes, and everything that they share.

import { InDoubtError, RequestError } from '../request-errors'
import { createDiscarder } from './bodies/refused-body'
import { awaitChange, CURSOR_HEADER } from './conditions/await-change'
import type { AppDeps } from './deps'
import type { Routed } from './elysia'
import { type Exchange, newApp, sentId } from './exchange'
import { openapi } from './openapi'
import { logRequest } from './request-log'
import { errorResponse, toRequestError } from './responses/errors'
import { createRouteDeps, type RouteDeps } from './route-deps'
import { changes } from './routes/changes'
import { changedPlant, onePlant } from './routes/one-plant'
import { health, metricsPage, ownToken, status } from './routes/operations'
import { pages } from './routes/pages'
import { newPlants, storedPlants } from './routes/plants'
import { tags } from './routes/tags'
import { authenticate } from './tokens/auth'

// The status in logs and metrics, as in nginx's; no client receives this response.
const CLIENT_GONE = 499

const UNREAD_METHODS = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Refuses a request that no route takes. A browser's preflight has no token, and uses a method that no path has. */
function refuseRoute({ cors }: AppDeps, request: Routed): Response {
  const preflight = cors?.preflightResponse(request)
  if (preflight) return preflight
  const { allow } = request
  if (allow === undefined) throw new RequestError('no such path')
  throw new RequestError('method not allowed', undefined, { headers: { allow } })
}

/** Returns the functions that count, log and complete each response. */
function createObserver(deps: RouteDeps) {
  const { metrics, log, stopping, store, cors, hsts, now } = deps
  const { isShort, discardRest } = createDiscarder(deps.maxBodyBytes, deps.budget)

  function observe(exchange: Exchange, response: Response): void {
    const { request, route, startedAt } = exchange
    const milliseconds = performance.now() - startedAt
    const { method } = request
    const isUnread = UNREAD_METHODS.has(method)
    metrics.countResponse(method, route, response.status, milliseconds)
    const cursor = !isUnread && response.ok && store.changeLog?.lastCursor?.()
    if (cursor) response.headers.set(CURSOR_HEADER, cursor)
    cors?.expose(request, response)
    // Bun adds a date to every other response (RFC 9110, section 6.6.1).
    if (method === 'HEAD') response.headers.set('date', new Date(now()).toUTCString())
    if (hsts !== null)
      response.headers.set('strict-transport-security', `max-age=${Math.floor(hsts / 1000)}`)
    logRequest(log, exchange, response, milliseconds)
    // With any other method, the body is read before the response.
    if (stopping.aborted || (isUnread && !isShort(exchange)))
      response.headers.set('connection', 'close')
  }

  async function refuse(exchange: Exchange, error: unknown): Promise<Response> {
    const refusal = toRequestError(error, log)
    const isRead = await discardRest(exchange)
    const isGone = refusal.error === 'busy' && exchange.request.signal.aborted
    const response = isGone ? new Response(null, { status: CLIENT_GONE }) : errorResponse(refusal)
    if (!isRead) response.headers.set('connection', 'close')
    observe(exchange, response)
    return response
  }

  return { observe, refuse }
}

// A separate app: its hooks do not apply to the routes of the app that uses it.
const withToken = (deps: RouteDeps) =>
  newApp()
    .use(authenticate(deps))
    .use(awaitChange(deps.store))
    .use(ownToken(deps))
    .use(status(deps))
    .use(metricsPage(deps))
    .use(newPlants(deps))
    .use(storedPlants(deps))
    .use(tags(deps))
    .use(changes(deps))
    .use(onePlant(deps))
    .use(changedPlant(deps))

/** Makes the app of a store; a server listens with it. */
export function createApp(appDeps: AppDeps) {
  const deps = createRouteDeps(appDeps)
  const { observe, refuse } = createObserver(deps)
  const { logRequests, clientOf } = deps

  return (
    newApp()
      // Elysia inspects the source of each hook, prepares only the destructured fields, and awaits an arrow function.
      .onTransform({ as: 'global' }, function begin(context) {
        const { request, route, headers } = context
        const startedAt = performance.now()
        const record = logRequests
          ? { id: sentId(headers) ?? crypto.randomUUID(), client: clientOf(request) }
          : undefined
        context.exchange = { request, headers, route, startedAt, record, token: null }
        // Bun joins repeated fields by a comma and a space, which no host has (RFC 9112, section 3.2).
        if (headers.host?.includes(', '))
          throw new RequestError('invalid', 'send one Host header', {
            headers: { connection: 'close' },
          })
      })
      .onAfterHandle({ as: 'global' }, function end({ exchange, responseValue }) {
        if (responseValue instanceof Response) observe(exchange, responseValue)
      })
      .onError(async ({ request, exchange, error }) => {
        if (!(error instanceof InDoubtError)) return await refuse(exchange, error)
        // Closes the connection without a response. On a unix socket, that takes as long as for an idle one.
        deps.timeOut(request, 1)
        return await new Promise<never>(() => {})
      })
      .use(openapi)
      .use(health(deps))
      .use(pages(deps))
      .all('/*', ({ request }) => refuseRoute(deps, request))
      .use(withToken(deps))
  )
}
