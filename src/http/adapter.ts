import type { AnyElysia } from 'elysia'
import { createBunRouteHandler } from 'elysia/adapter/bun/compose'

/** Answers a request. */
export type Handler = (request: Request) => Response | Promise<Response>

/**
 * The routes of an app for Bun's own router, each compiled by Elysia at its first request. Bun matches the path as it was
 * sent; `app.listen` answers `GET /health/../metrics` with 401, where 404 is right.
 */
export function routesOf(app: AnyElysia): Record<string, Handler> {
  const byPath = Map.groupBy(app.routes, ({ path }) => path)
  return Object.fromEntries([...byPath].map(([path, routes]) => [path, dispatch(app, routes)]))
}

// Chooses the route by the method; any other method goes to the route for all methods, which each path has.
function dispatch(app: AnyElysia, routes: AnyElysia['routes']): Handler {
  const handlers = new Map<string, Handler>()
  const compile = (method: string): Handler => {
    const name = method === 'HEAD' ? 'GET' : method
    const route =
      routes.find((it) => it.method === name) ?? routes.find((it) => it.method === 'ALL')
    return createBunRouteHandler(app, route as (typeof routes)[number]) as Handler
  }
  return (request) => handlers.getOrInsertComputed(request.method, compile)(request)
}
