// Describes the routes in OpenAPI 3.1, from their own details and from the schemas that check requests.

import * as t from '@sinclair/typebox'
import type { AnyElysia } from 'elysia'
import packageJson from '../../package.json'
import { CANNOT_READ, ERRORS, type ErrorName } from '../errors'
import { answerBlob } from './answers/answer'
import { ERROR_HEADERS, statusOf } from './answers/errors'
import { ACCEPT_ENCODING } from './bodies/body'
import { type DescribedRoute, describedRoutes } from './elysia'
import type { App } from './request-context'
import { answers, header, headers } from './routes/describe'
import { ErrorBody } from './routes/schemas'

type Json = { readonly [key: string]: unknown }

// The errors of routes with a body, of reads, and of changes.
const BODY = ['not JSON', 'invalid', 'too large', 'unsupported type'] as const
const ANY = ['no credentials', 'invalid token', 'too many requests'] as const
const READING = [...ANY, 'storage failed'] as const
const WRITING = [
  ...ANY,
  'read-only token',
  'read-only service',
  'busy',
  'storage failed',
  'disk full',
] as const

const TAGS = [
  {
    name: 'plants',
    // The rules for every script; the reference at /docs shows them too.
    description: [
      'Create, read, list, replace and delete plants.',
      'Pages: send `next` as `after` until it is `null`.',
      'Lost updates: send the `ETag` of a plant as `If-Match`; 41201 means that another client changed it meanwhile.',
      'Retries: a change that got no answer may be stored, so send it again; 40901 then means that it was.',
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

function parameters(place: 'path' | 'query', schema: unknown): Json[] {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    properties?: Record<string, Json>
    required?: string[]
  }
  return Object.entries(properties).map(([name, field]) => ({
    name,
    in: place,
    description: field.description,
    required: required.includes(name),
    schema: field,
  }))
}

const JSON_TYPE = 'application/json'
const MALFORMED = { description: 'Malformed HTTP is rejected by the parser, without a body.' }

// Headers that options of the daemon add to every answer.
const OPTIONAL_HEADERS = {
  'X-Request-Id': header(
    'The id of the request in the request log. Only with --log-requests.',
    'a1b2c3',
  ),
}

const SHARED_HEADERS = Object.fromEntries(
  Object.keys(OPTIONAL_HEADERS).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
)

const CURSOR_EXAMPLE = '5d1be2a07c93f648-17'

/** The header of answers to changes. */
const CHANGE_HEADER = {
  'Plantstore-Cursor': header(
    'The cursor of the change, or of a later one. Only with a change log.',
    CURSOR_EXAMPLE,
  ),
}

/** The header of requests for plants. */
const AWAITED_CHANGE = {
  name: 'Plantstore-Cursor',
  in: 'header',
  description:
    'The cursor of a change that the answer must include. A read-only service waits for it for a second, then answers 50301, or 41001 if the change is not in its history; others have every change.',
  required: false,
  schema: { type: 'string' },
  example: CURSOR_EXAMPLE,
}

/** Refusals of requests with that header. */
const AWAITED_CHANGE_REFUSALS = ['invalid', 'no change log', 'cursor expired', 'busy'] as const

const isOfPlants = ({ path }: DescribedRoute): boolean => /^\/(plants|tags)/.test(path)

const mayAwaitChange = (route: DescribedRoute): boolean =>
  route.method === 'GET' && isOfPlants(route)

function refusalsOf(route: DescribedRoute) {
  const { method, detail, body, params, query } = route
  const { security, refusals = [] } = detail
  const ofToken = method === 'GET' ? READING : WRITING
  const errors = new Set<ErrorName>([
    ...(body ? BODY : []),
    ...(params || query ? ['invalid' as const] : []),
    ...(security ? [] : ofToken),
    ...(mayAwaitChange(route) ? AWAITED_CHANGE_REFUSALS : []),
    ...refusals,
    'unexpected',
  ])
  return [...errors].sort((a, b) => ERRORS[a].number - ERRORS[b].number)
}

// A read stores nothing; a route that names the refusal itself tells whether writes succeed.
function messageTo({ method, detail }: DescribedRoute, error: ErrorName): string {
  const { message } = ERRORS[error]
  if (method !== 'GET') return message
  const isOfRead = error === 'storage failed' && !detail.refusals?.includes(error)
  return isOfRead ? CANNOT_READ : message.replace('; nothing was stored', '')
}

/** The answer to the refusals of one status. `accepts`: the headers of a 415. */
function refusal(
  route: DescribedRoute,
  errors: readonly ErrorName[],
  accepts: Readonly<Record<string, string>>,
): Json {
  const headersOfAll = errors.map((error) =>
    error === 'unsupported type' ? accepts : ERROR_HEADERS[error],
  )
  const examples = errors.map((error) => {
    const { number } = ERRORS[error]
    const message = messageTo(route, error)
    return [number, { summary: message, value: { error: number, message } }]
  })
  return {
    description: errors
      .map((error) => `${ERRORS[error].number}: ${messageTo(route, error)}`)
      .join('; '),
    headers: headers(Object.assign({}, ...headersOfAll)),
    content: {
      [JSON_TYPE]: { schema: ErrorBody, examples: Object.fromEntries(examples) },
    },
  }
}

// The answers of a route, with the headers that options add.
function answersOf(route: DescribedRoute): Json {
  const { method, detail } = route
  const { answers, media } = detail
  const accepts = { ...media?.accepts, ...ACCEPT_ENCODING }
  const byStatus = Map.groupBy(refusalsOf(route), statusOf)
  const refusals = [...byStatus].map(([status, errors]) => [
    status,
    refusal(route, errors, accepts),
  ])
  const all = { ...answers?.(), ...Object.fromEntries(refusals) }
  const responses = Object.entries<Json>(all).map(([status, answer]) => [
    status,
    {
      ...answer,
      headers: {
        ...Object(answer.headers),
        ...(method !== 'GET' && status.startsWith('2') ? CHANGE_HEADER : {}),
        ...SHARED_HEADERS,
      },
    },
  ])
  return { ...Object.fromEntries(responses), '4XX': MALFORMED }
}

function operation(route: DescribedRoute): Json {
  const { body, params, query, detail } = route
  const { answers, refusals, media, parameters: more = [], ...rest } = detail
  const cursorHeader = mayAwaitChange(route) ? [AWAITED_CHANGE] : []
  const all = [
    ...parameters('path', params),
    ...parameters('query', query),
    ...more,
    ...cursorHeader,
  ]
  const types = media?.types ?? [JSON_TYPE]
  const content = Object.fromEntries(types.map((type) => [type, { schema: body }]))
  return {
    ...rest,
    tags: [isOfPlants(route) ? 'plants' : 'operations'],
    responses: answersOf(route),
    parameters: all.length > 0 ? all : undefined,
    requestBody: body ? { required: true, content } : undefined,
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
    servers: [{ url: '.', description: 'The service that this description comes from.' }],
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
      headers: OPTIONAL_HEADERS,
      schemas: Object.fromEntries(components),
    },
  }
}

const toBlobs = (text: string) => ({
  plain: new Blob([text]),
  gzip: new Blob([Bun.gzipSync(text)]),
})

/** `GET /openapi.json`, which describes the routes of its app; needs no credentials. */
export function openapi(app: App) {
  let document: { readonly plain: Blob; readonly gzip: Blob } | undefined
  return app.get(
    '/openapi.json',
    ({ request }) => {
      document ??= toBlobs(JSON.stringify(openapiDocument(app)))
      return answerBlob(request, document.plain, document.gzip)
    },
    {
      detail: {
        operationId: 'openapi',
        summary: 'Read this description',
        description: 'In OpenAPI 3.1. Needs no token.',
        security: [],
        answers: () =>
          answers(200, 'This description.', t.Object({}, { description: 'OpenAPI 3.1.' })),
      },
    },
  )
}
