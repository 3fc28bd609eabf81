// Describes the routes in OpenAPI 3.1, from their own details and from the schemas that check requests.

import { Kind } from '@sinclair/typebox'
import { Elysia, t } from 'elysia'
import packageJson from '../../package.json'
import { answerBlob } from './answer'
import { answers, OPTIONAL_HEADERS, refusals, responses } from './describe'
import { isLimited } from './rate-limit'

type Json = { readonly [key: string]: unknown }

/** The parts of an Elysia route that the document needs. */
export type OpenApiRoute = {
  readonly method: string
  readonly path: string
  readonly hooks: {
    readonly body?: unknown
    readonly query?: unknown
    readonly params?: unknown
    readonly detail?: Json
  }
}

/** The details of a route. The document takes all fields but these as they are. */
type Detail = Json & {
  readonly parameters?: readonly Json[]
  /** The media types of its body; JSON if not given. */
  readonly bodyTypes?: readonly string[]
}

const TAGS = [
  { name: 'plants', description: 'Create, read, list, replace and delete plants.' },
  { name: 'operations', description: 'For operators of the service.' },
]

// Turns schemas into plain JSON: those with a title become references, and fields for the validator are left out.
function toJson(value: unknown, components: Map<string, unknown>): unknown {
  if (Array.isArray(value)) return value.map((item) => toJson(item, components))
  if (typeof value !== 'object' || value === null) return value
  const json = (fields: object) =>
    Object.fromEntries(Object.entries(fields).map(([key, it]) => [key, toJson(it, components)]))
  if (!(Kind in value)) return json(value)
  const { title, error, additionalProperties, ...schema } = value as Json
  if (typeof title !== 'string') return json(schema)
  components.set(title, json(schema))
  return { $ref: `#/components/schemas/${title}` }
}

function parameters(place: 'path' | 'query', schema: unknown): Json[] {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    properties?: Record<string, Json>
    required?: string[]
  }
  return Object.entries(properties).map(([name, it]) => ({
    name,
    in: place,
    description: it.description,
    required: required.includes(name),
    schema: it,
  }))
}

const headerRefs = (names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

const OF_ALL = headerRefs(['X-Request-Id'])
const OF_COUNTED = headerRefs(Object.keys(OPTIONAL_HEADERS))

// The answers of a route, with the headers that options add: no 401 counts as a request of a token.
function answersOf({ path, hooks: { detail } }: OpenApiRoute): Json {
  if (typeof detail?.responses !== 'function') return {}
  const isCounted = detail.security === undefined && isLimited(path)
  const answers: [string, Json][] = Object.entries(detail.responses())
  const all = answers.map(([status, answer]) => {
    const added = isCounted && status !== '401' ? OF_COUNTED : OF_ALL
    const headers = { ...Object(answer.headers), ...added }
    return [status, status === '4XX' ? answer : { ...answer, headers }]
  })
  return { responses: Object.fromEntries(all) }
}

function operation(route: OpenApiRoute): Json {
  const { body, params, query, detail } = route.hooks
  const { parameters: more = [], bodyTypes = ['application/json'], ...rest } = detail as Detail
  const all = [...parameters('path', params), ...parameters('query', query), ...more]
  const content = Object.fromEntries(bodyTypes.map((type) => [type, { schema: body }]))
  return {
    ...rest,
    ...answersOf(route),
    ...(all.length > 0 ? { parameters: all } : {}),
    ...(body ? { requestBody: { required: true, content } } : {}),
  }
}

function openapiDocument(routes: readonly OpenApiRoute[]): Json {
  const components = new Map<string, unknown>()
  const paths: Record<string, Json> = {}
  for (const route of routes) {
    const template = route.path.replace(/:(\w+)/g, '{$1}')
    const described = { [route.method.toLowerCase()]: toJson(operation(route), components) }
    paths[template] = { ...paths[template], ...described }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Plant store',
      version: packageJson.version,
      description: packageJson.description,
      contact: { name: 'The plantstore authors' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    // Relative to this document, so that it works behind a proxy that adds a path prefix.
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

// The only bigints are the bounds of int64, which no number holds exactly.
const toText = (document: Json): string =>
  JSON.stringify(document, (_, value) =>
    typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value,
  )

/** `GET /openapi.json`; it needs no credentials. */
export function openapi(routes: () => readonly OpenApiRoute[]) {
  let plain: Blob | undefined
  let zipped: Blob | undefined
  return new Elysia({ name: 'openapi' }).get(
    '/openapi.json',
    ({ request }) => {
      if (!plain || !zipped) {
        const text = toText(openapiDocument(routes()))
        plain = new Blob([text])
        zipped = new Blob([Bun.gzipSync(text)])
      }
      return answerBlob(request, plain, zipped)
    },
    {
      detail: {
        operationId: 'openapi',
        summary: 'Read this description',
        description: 'In OpenAPI 3.1. Needs no token.',
        tags: ['operations'],
        security: [],
        responses: responses(() => ({
          ...answers(200, 'This description.', t.Object({}, { description: 'OpenAPI 3.1.' })),
          ...refusals(50001),
        })),
      },
    },
  )
}
