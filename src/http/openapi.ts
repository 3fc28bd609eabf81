// Describes the routes in OpenAPI 3.1, from their own details and from the schemas that check requests.

import * as t from '@sinclair/typebox'
import type { AnyElysia } from 'elysia'
import packageJson from '../../package.json'
import { CANNOT_READ, ERRORS, type ErrorName } from '../request-errors'
import { JSON_TYPE, mediaTypesOf } from './bodies/body'
import { isOfPlants } from './conditions/await-change'
import { type DescribedRoute, describedRoutes } from './elysia'
import type { App } from './exchange'
import { ERROR_HEADERS, statusOf } from './responses/errors'
import { blobResponse } from './responses/forms'
import { CONDITIONS, type HeaderName, headers } from './routes/describe'
import { ErrorBody } from './routes/schemas'

type Json = { readonly [key: string]: unknown }

const TAGS = [
  {
    name: 'plants',
    // The rules for every script; the reference at /docs shows them too.
    description: [
      'Create, read, list, replace and delete plants.',
      'Pages: send `next` as `after` until it is `null`.',
      'Lost updates: send the `ETag` of a plant as `If-Match`; 41201 means that another client changed it meanwhile.',
      'Retries: a change without a response may be stored, so send it again; 40901 then means that it was.',
      'After 42901 and 50301, wait for `Retry-After`.',
    ].join(' '),
  },
  { name: 'operations', description: 'For operators of the service.' },
]

// Turns schemas into plain JSON: those with a title become references, and fields for the validator are left out.
function schemasToJson(value: unknown, components: Map<string, unknown>): unknown {
  // The bounds of int64, which no number holds exactly.
  if (typeof value === 'bigint') return JSON.rawJSON(String(value))
  if (Array.isArray(value)) return value.map((item) => schemasToJson(item, components))
  if (typeof value !== 'object' || value === null) return value
  const json = (fields: object) =>
    Object.fromEntries(
      Object.entries(fields).map(([key, field]) => [key, schemasToJson(field, components)]),
    )
  if (!(t.Kind in value)) return json(value)
  const { title, error, unknown, additionalProperties, ...fields } = value as Json
  const schema = additionalProperties === false ? { ...fields, additionalProperties } : fields
  if (typeof title !== 'string') return json(schema)
  components.set(title, json(schema))
  return { $ref: `#/components/schemas/${title}` }
}

const NO_FIELDS: t.TObject = t.Object({})

function parameters(place: 'path' | 'query' | 'header', schema: t.TObject | undefined) {
  const { properties, required = [] } = schema ?? NO_FIELDS
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: place,
    description: schema.description,
    required: required.includes(name),
    schema,
  }))
}

const REQUEST_ID = headers(['X-Request-Id'])
const SHARED_HEADERS = { 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' } }

const mayAwaitChange = ({ method, path }: DescribedRoute): boolean =>
  method === 'GET' && isOfPlants(path)

function refusalsOf(route: DescribedRoute): ErrorName[] {
  const { method, path, detail, body } = route
  const errors = new Set<ErrorName>(['unexpected', ...(detail.refusals ?? [])])
  const add = (condition: unknown, ...names: ErrorName[]) => {
    if (condition) for (const name of names) errors.add(name)
  }
  add(isOfPlants(path), 'invalid')
  add(body, 'not JSON', 'unsupported type')
  add(!detail.security, 'no credentials', 'invalid token', 'too many requests', 'storage failed')
  add(method !== 'GET', 'read-only token', 'read-only service', 'too large', 'busy', 'disk full')
  add(mayAwaitChange(route), 'no change log', 'cursor expired', 'busy')
  return [...errors].sort((a, b) => ERRORS[a].number - ERRORS[b].number)
}

// A route that names the error itself reports on writes.
const messageTo = ({ method, detail }: DescribedRoute, error: ErrorName): string =>
  error === 'storage failed' && method === 'GET' && !detail.refusals?.includes(error)
    ? CANNOT_READ
    : ERRORS[error].message

/** The response to the refusals of one status. */
function refusal(route: DescribedRoute, errors: readonly ErrorName[]): Json {
  const names = errors.flatMap((error) => Object.keys(ERROR_HEADERS[error] ?? {})) as HeaderName[]
  if (errors.includes('unsupported type')) {
    names.push('accept-encoding')
    if (mediaTypesOf(route.body).length > 1) names.push('accept-patch')
  }
  const examples = errors.map((error) => {
    const { number } = ERRORS[error]
    const message = messageTo(route, error)
    return [number, { summary: message, value: { error: number, message } }] as const
  })
  return {
    description: examples.map(([number, { summary }]) => `${number}: ${summary}`).join('; '),
    headers: { ...headers(names), ...SHARED_HEADERS },
    content: { [JSON_TYPE]: { schema: ErrorBody, examples: Object.fromEntries(examples) } },
  }
}

function linksOf({ query, detail: { operationId, links = [] } }: DescribedRoute): Json {
  const parameters = { id: '$request.body#/id' }
  const byId = links.map((name) => [name, { operationId: name, parameters }])
  const hasPages = query && 'after' in query.properties
  return {
    ...Object.fromEntries(byId),
    ...(hasPages && { nextPage: { operationId, parameters: { after: '$response.body#/next' } } }),
  }
}

/** A success, whose body has one of the schemas. */
function success(route: DescribedRoute, body: t.TSchema | readonly t.TSchema[] | string): Json {
  const { method, detail } = route
  const schemas = typeof body === 'string' ? [] : [body].flat()
  const content = schemas.map((schema) => [schema.contentMediaType ?? JSON_TYPE, { schema }])
  const ofChange = method === 'GET' ? [] : (['Plantstore-Cursor'] as const)
  return {
    description: typeof body === 'string' ? body : schemas[0]?.description,
    headers: { ...headers([...(detail.headers ?? []), ...ofChange]), ...SHARED_HEADERS },
    ...(content.length > 0 && { content: Object.fromEntries(content), links: linksOf(route) }),
  }
}

function responsesOf(route: DescribedRoute): Json {
  const successes = Object.entries(route.detail.successes?.() ?? {})
  const refusals = [...Map.groupBy(refusalsOf(route), statusOf)]
  return {
    ...Object.fromEntries(successes.map(([status, body]) => [status, success(route, body)])),
    ...Object.fromEntries(refusals.map(([status, errors]) => [status, refusal(route, errors)])),
    '4XX': { description: 'Malformed HTTP is rejected by the parser, without a body.' },
  }
}

/** The header of requests for plants. */
const AWAITED_CHANGE = t.Object({
  'Plantstore-Cursor': t.Optional(
    t.String({
      description:
        'The cursor of a change that the response must include. A read-only service waits for it for a second, then fails with 50301, or with 41001 if the change is not in its history; others have every change.',
      examples: ['5d1be2a07c93f648-17'],
    }),
  ),
})

function operation(route: DescribedRoute): Json {
  const { body, params, query, detail } = route
  const { operationId, summary, description, security } = detail
  const types = mediaTypesOf(body).map((type) => [type, { schema: body }])
  return {
    operationId,
    summary,
    description,
    security,
    tags: [isOfPlants(route.path) ? 'plants' : 'operations'],
    parameters: [
      ...parameters('path', params),
      ...parameters('query', query),
      ...(detail.refusals?.includes('precondition failed') ? parameters('header', CONDITIONS) : []),
      ...(mayAwaitChange(route) ? parameters('header', AWAITED_CHANGE) : []),
    ],
    requestBody: body && { required: true, content: Object.fromEntries(types) },
    responses: responsesOf(route),
  }
}

// Routes without details, such as those of the pages, are not part of the API.
function openapiDocument(app: AnyElysia): Json {
  const components = new Map<string, unknown>()
  const paths: Record<string, Json> = {}
  for (const route of describedRoutes(app)) {
    const template = route.path.replace(/:(\w+)/g, '{$1}')
    const pathItem = { [route.method.toLowerCase()]: schemasToJson(operation(route), components) }
    paths[template] = { ...paths[template], ...pathItem }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'plantstore',
      version: packageJson.version,
      description: packageJson.description,
      contact: { name: 'The plantstore authors' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    // Relative to this document, so that it works behind a proxy with a path prefix.
    servers: [{ url: '.' }],
    security: [{ bearer: [] }],
    tags: TAGS,
    paths,
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'A token from `plantstore token create`; its scope is `read` or `write`.',
        },
      },
      headers: REQUEST_ID,
      schemas: Object.fromEntries(components),
    },
  }
}

/** `GET /openapi.json`, which describes the routes of its app; needs no credentials. */
export function openapi(app: App) {
  let blobs: { readonly plain: Blob; readonly gzip: Blob } | undefined
  const make = () => {
    const text = JSON.stringify(openapiDocument(app))
    return { plain: new Blob([text]), gzip: new Blob([Bun.gzipSync(text)]) }
  }
  return app.get(
    '/openapi.json',
    ({ request }) => {
      blobs ??= make()
      return blobResponse(request, blobs.plain, blobs.gzip)
    },
    {
      detail: {
        operationId: 'openapi',
        summary: 'Read this description',
        security: [],
        successes: () => ({
          200: t.Object({}, { description: 'This description, in OpenAPI 3.1.' }),
        }),
      },
    },
  )
}
