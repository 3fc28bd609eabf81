import { Elysia } from 'elysia'
import packageJson from '../../package.json'
import { catalogue, type ErrorNumber } from '../errors'
import { answerText } from './answer'
import { headersOf } from './errors'
import { components, type Operation, operations } from './operations'

type Json = { readonly [key: string]: unknown }

/** What the document needs of a route of Elysia's. */
export type OpenApiRoute = {
  readonly method: string
  readonly path: string
  readonly hooks: {
    readonly body?: unknown
    readonly query?: unknown
    readonly params?: unknown
    readonly detail?: {
      readonly operationId?: string
      readonly summary?: string
      readonly hide?: boolean
    }
  }
}

// Without what is for the validator alone: `error` is the text of a mismatch, and unknown fields are ignored.
function toJsonSchema(schema: Json): Json {
  const { error, additionalProperties, properties, items, anyOf, ...rest } = schema
  return {
    ...rest,
    ...(properties
      ? { properties: mapValues(properties as Record<string, Json>, toJsonSchema) }
      : {}),
    ...(items ? { items: toJsonSchema(items as Json) } : {}),
    ...(anyOf ? { anyOf: (anyOf as Json[]).map(toJsonSchema) } : {}),
  }
}

const mapValues = <In, Out>(of: Readonly<Record<string, In>>, change: (value: In) => Out) =>
  Object.fromEntries(Object.entries(of).map(([key, value]) => [key, change(value)]))

const reference = (schema: unknown): Json => {
  const name = Object.entries(components).find(([, it]) => it === schema)?.[0]
  return name ? { $ref: `#/components/schemas/${name}` } : toJsonSchema((schema ?? {}) as Json)
}

function parameters(place: 'path' | 'query', schema: unknown): Json[] {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    properties?: Record<string, Json>
    required?: string[]
  }
  return Object.entries(properties).map(([name, it]) => ({
    name,
    in: place,
    required: required.includes(name),
    schema: toJsonSchema(it),
  }))
}

function errorResponses(errors: readonly ErrorNumber[]): Json {
  const byStatus = Map.groupBy(errors, (error) => Math.floor(error / 100))
  return Object.fromEntries(
    [...byStatus].map(([status, numbers]) => [
      String(status),
      {
        description: numbers.map((error) => `${error}: ${catalogue[error]}`).join('; '),
        headers: Object.fromEntries(
          numbers.flatMap((error) =>
            Object.entries(headersOf[error] ?? {}).map(([name, example]) => [
              name,
              { schema: { type: 'string' }, example },
            ]),
          ),
        ),
        content: {
          'application/json': {
            schema: { $ref: '#/components/schemas/Error' },
            examples: Object.fromEntries(
              numbers.map((error) => [
                String(error),
                { value: { error, message: catalogue[error] } },
              ]),
            ),
          },
        },
      },
    ]),
  )
}

function successResponse({ description, answer, example, headers }: Operation): Json {
  const isComponent = answer !== null && Object.hasOwn(components, answer)
  const schema = isComponent ? { $ref: `#/components/schemas/${answer}` } : { type: 'string' }
  const content = { [isComponent ? 'application/json' : String(answer)]: { schema, example } }
  return { description, ...(headers ? { headers } : {}), ...(answer === null ? {} : { content }) }
}

function describe({ hooks }: OpenApiRoute, operationId: string, operation: Operation): Json {
  const all = [...parameters('path', hooks.params), ...parameters('query', hooks.query)]
  const content = { 'application/json': { schema: reference(hooks.body) } }
  return {
    operationId,
    summary: hooks.detail?.summary,
    ...(operation.isPublic ? { security: [] } : {}),
    ...(all.length > 0 ? { parameters: all } : {}),
    ...(hooks.body ? { requestBody: { required: true, content } } : {}),
    responses: {
      [operation.success]: successResponse(operation),
      ...errorResponses(operation.errors),
    },
  }
}

// The description of an app's routes (OpenAPI 3.1), made of the schemas that validate.
function openapiDocument(routes: readonly OpenApiRoute[]): Json {
  const paths: Record<string, Record<string, Json>> = {}
  for (const route of routes) {
    const operationId = route.hooks.detail?.operationId ?? ''
    const operation = operations[operationId]
    if (!operation) continue
    const path = route.path.replace(/:(\w+)/g, '{$1}')
    paths[path] = {
      ...paths[path],
      [route.method.toLowerCase()]: describe(route, operationId, operation),
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Plant store',
      version: packageJson.version,
      description: packageJson.description,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }],
    paths,
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      schemas: mapValues(components as unknown as Record<string, Json>, toJsonSchema),
    },
  }
}

/** `GET /openapi.json`; it needs no credentials. */
export function openapi(routes: () => readonly OpenApiRoute[]) {
  let document: string | undefined
  return new Elysia({ name: 'openapi' }).get(
    '/openapi.json',
    () => {
      document ??= JSON.stringify(openapiDocument(routes()))
      return answerText(document)
    },
    { detail: { operationId: 'openapi', summary: 'This description' } },
  )
}
