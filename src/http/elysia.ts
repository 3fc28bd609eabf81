// Every workaround for Elysia, so that an upgrade has one place to break: router, bodies, queries, routes, errors.

import type { TObject, TSchema } from '@sinclair/typebox'
import {
  type AnyElysia,
  type DocumentDecoration,
  getSchemaValidator,
  ValidationError,
} from 'elysia'
import { createBunRouteHandler } from 'elysia/adapter/bun/compose'
import type { Validator } from '../plant/mismatch'
import { RequestError } from '../request-errors'

/** The settings of an app. */
export const SETTINGS = {
  // Finds the query after a Host of any length, even a short one.
  handler: { standardHostname: false },
  // Otherwise `/plants/` would be `/plants`.
  strictPath: true,
  // Otherwise unknown parameters would be removed, not refused.
  normalize: false,
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
  const fallback = app.routes.find(({ path }) => path === '/*') as Route
  return Object.fromEntries(
    [...byPath].map(([path, routes]) => [path, dispatch(app, routes, fallback)]),
  )
}

type Route = AnyElysia['routes'][number]

/** A request. `allow`: the methods of its path, if it uses another, as in `Allow` (RFC 9110, section 10.2.1). */
export type Routed = Request & { readonly allow?: string }

// Selects the route by the method. Elysia answers HEAD by the route of GET; `fallback` refuses any other method, so that
// `/plants/batch` is never a plant with the id "batch".
function dispatch(app: AnyElysia, routes: readonly Route[], fallback: Route): Handler {
  const byMethod = new Map(routes.map((route) => [route.method, route]))
  const get = byMethod.get('GET')
  if (get) byMethod.set('HEAD', get)
  const allow = routes.includes(fallback) ? undefined : [...byMethod.keys()].join(', ')
  const handlers = new Map<string, Handler>()
  const compile = (method: string): Handler => {
    const route = byMethod.get(method)
    const handle = createBunRouteHandler(app, route ?? fallback) as Handler
    return route ? handle : (request) => handle(Object.assign(request, { allow }))
  }
  return (request) => handlers.getOrInsertComputed(request.method, compile)(request)
}

type BodyContext = { readonly request: Request; readonly headers: SentHeaders; body: unknown }

/**
 * The options of a route whose body `read` reads. Elysia itself would read it before the hooks that check the
 * credentials; with `parse: 'none'` it neither reads nor validates it, and the schema only provides types and the
 * description.
 */
export const bodyOf = <Schema extends TSchema>(
  body: Schema,
  read: (request: Request, headers: SentHeaders) => Promise<unknown>,
) => ({
  body,
  parse: 'none' as const,
  // Kept short, because Elysia parses the source of its hooks, and prints a warning if that fails.
  transform: async (context: BodyContext): Promise<void> => {
    context.body = await read(context.request, context.headers)
  },
})

/**
 * Elysia's compiled validator of a schema, made at the first use to keep the start fast. Its `Clean` copies the fields of
 * the schema: a body of many keys needs ten times its length (`memory-keys` of test:faults).
 */
export function validatorOf(schema: TSchema) {
  let validator: ReturnType<typeof getSchemaValidator<TSchema>> | undefined
  return () => {
    validator ??= getSchemaValidator(schema, { normalize: true })
    return validator
  }
}

const STRAY_PERCENT = /%(?![\da-f]{2})/gi

function requireUtf8(query: string): void {
  try {
    decodeURIComponent(query.replace(STRAY_PERCENT, '%25'))
  } catch {
    throw new RequestError('invalid', 'the query is not UTF-8')
  }
}

type QueryContext = { readonly request: Request; readonly query: Record<string, unknown> }

/**
 * The options of a route with these parameters. Elysia keeps the last of repeated ones, splits those of a list at
 * commas, decodes invalid UTF-8 as U+FFFD, and nothing of a text with a stray `%`: a client would not learn that another
 * query was answered.
 */
export const queryOf = <Schema extends TObject>(query: Schema) => ({
  query,
  transform: (context: QueryContext): void => {
    const { url } = context.request
    const start = url.indexOf('?') + 1
    if (start === 0) return
    const text = url.slice(start)
    requireUtf8(text)
    const parameters = new URLSearchParams(text)
    const repeatedNames: string[] = []
    for (const [name, { type }] of Object.entries(query.properties)) {
      const values = parameters.getAll(name)
      const isList = type === 'array'
      if (values.length > 0) context.query[name] = isList ? values : values[0]
      if (values.length > 1 && !isList) repeatedNames.push(name)
    }
    if (repeatedNames.length > 0)
      throw new RequestError('invalid', `given more than once: ${repeatedNames.join(', ')}`)
  },
})

/** A route with a description, and the schemas that check its requests. */
export type DescribedRoute = {
  readonly method: string
  readonly path: string
  readonly detail: DocumentDecoration
  readonly body?: TSchema
  readonly params?: TObject
  readonly query?: TObject
}

/** The routes of an app with a description. Elysia keeps their options in `hooks`, which is untyped. */
export const describedRoutes = ({ routes }: AnyElysia): readonly DescribedRoute[] =>
  routes.flatMap(({ method, path, hooks }) => {
    const { detail, body, params, query } = hooks
    return detail ? [{ method, path, detail, body, params, query }] : []
  })

/** The validator and the value of Elysia's validation error, whose own message echoes the value; null for other errors. */
export const mismatchOf = (error: unknown) =>
  error instanceof ValidationError
    ? { validator: error.validator as Validator, value: error.value }
    : null
