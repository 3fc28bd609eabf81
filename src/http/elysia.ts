// Every workaround for Elysia, so that an upgrade has one place to break: its router, and the types of its routes.

import type { AnyElysia, DocumentDecoration } from 'elysia'
import { createBunRouteHandler } from 'elysia/adapter/bun/compose'

/** The settings of an app. */
export const SETTINGS = {
  // Finds the query after a Host of any length, even a short one.
  handler: { standardHostname: false },
  // Otherwise `/plants/` would be `/plants`.
  strictPath: true,
} as const

/** The headers of a request in Elysia's form, with lower-case names. */
export type SentHeaders = Readonly<Record<string, string | undefined>>

/** Answers a request. */
export type Handler = (request: Request) => Response | Promise<Response>

/**
 * The routes of an app for Bun's own router, each compiled by Elysia at its first request. Bun matches the path as
 * sent; `app.listen` would answer `GET /health/../metrics` with 401 instead of 404. That is what the internal module
 * `elysia/adapter/bun/compose` is imported for: only it compiles a single route.
 */
export function routesOf(app: AnyElysia): Record<string, Handler> {
  const byPath = Map.groupBy(app.routes, ({ path }) => path)
  const [fallback] = byPath.get('/*') ?? []
  return Object.fromEntries(
    [...byPath].map(([path, routes]) => [path, dispatch(app, routes, fallback)]),
  )
}

type Route = AnyElysia['routes'][number]

const otherMethods = new WeakMap<Request, string>()

/** The methods of a request's path, if it uses another, in the form of `Allow` (RFC 9110, section 10.2.1). */
export const allowedMethods = (request: Request): string | undefined => otherMethods.get(request)

// Selects the route by the method. Elysia answers HEAD by the route of GET; `fallback` refuses any other method, so that
// `/plants/batch` is never a plant with the id "batch".
function dispatch(app: AnyElysia, routes: readonly Route[], fallback: Route | undefined): Handler {
  const handlers = new Map<string, Handler>()
  const allow = routes
    .flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
    .join(', ')
  const compile = (sentMethod: string): Handler => {
    const name = sentMethod === 'HEAD' ? 'GET' : sentMethod
    const route = routes.find(({ method }) => method === name)
    const handle = createBunRouteHandler(app, (route ?? fallback) as Route) as Handler
    if (route || routes.includes(fallback as Route)) return handle
    return (request) => {
      otherMethods.set(request, allow)
      return handle(request)
    }
  }
  return (request) => handlers.getOrInsertComputed(request.method, compile)(request)
}

/** A route with a description. */
export type DescribedRoute = {
  readonly method: string
  readonly path: string
  readonly detail: DocumentDecoration
  readonly schemas: ReturnType<DocumentDecoration['schemas']>
}

/** The routes of an app with a description. Elysia keeps it in `hooks`, which is untyped. */
export const describedRoutes = ({ routes }: AnyElysia): readonly DescribedRoute[] =>
  routes.flatMap(({ method, path, hooks: { detail } }) =>
    detail ? [{ method, path, detail, schemas: detail.schemas() }] : [],
  )
