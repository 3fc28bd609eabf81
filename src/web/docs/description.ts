// The parts of the service's OpenAPI 3.1 description that the page uses.
import { parseExact } from './json-text'

/** The parts of a JSON Schema that the page shows. Integers beyond 2^53 are bigints. */
export type Schema = {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly default?: unknown
  readonly examples?: readonly unknown[]
  readonly minimum?: number | bigint
  readonly maximum?: number | bigint
  readonly minItems?: number
  readonly maxItems?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
}
export type Schemas = Readonly<Record<string, Schema>>

export type Parameter = {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly description?: string
  readonly required?: boolean
  readonly schema: Schema
  readonly example?: unknown
}

type Example = { readonly summary?: string; readonly value: unknown }
export type Media = {
  readonly schema?: Schema
  readonly examples?: Readonly<Record<string, Example>>
}
type Content = Readonly<Record<string, Media>>

type Header = {
  readonly $ref?: string
  readonly description?: string
  readonly example?: unknown
}
export type Headers = Readonly<Record<string, Header>>
export type Response = {
  readonly description: string
  readonly headers?: Headers
  readonly content?: Content
}

type Security = readonly Readonly<Record<string, unknown>>[]
type DescribedOperation = {
  readonly operationId: string
  readonly summary?: string
  readonly description?: string
  readonly tags?: readonly string[]
  readonly security?: Security
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, Response>>
}

export type Description = {
  readonly info: { readonly title: string; readonly version: string; readonly description?: string }
  readonly servers?: readonly { readonly url: string }[]
  readonly security?: Security
  readonly tags?: readonly { readonly name: string; readonly description?: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>
  readonly components?: {
    readonly headers?: Headers
    readonly schemas?: Schemas
    readonly securitySchemes?: Readonly<Record<string, { readonly description?: string }>>
  }
}

export type Operation = DescribedOperation & {
  readonly method: string
  readonly path: string
  readonly needsToken: boolean
  readonly parameters: readonly Parameter[]
  /** The headers shared by several of its responses. */
  readonly sharedHeaders: Headers
}

export type Group = {
  readonly name: string
  readonly description: string
  readonly operations: readonly Operation[]
}

/** Fetches the description; rejects with a readable message. */
export async function loadDescription(url: URL): Promise<Description> {
  const answer = await fetch(url)
  if (!answer.ok) throw new Error(`${url.href} answered ${answer.status}`)
  return parseExact(await answer.text()) as Description
}

/** The shared headers that the responses refer to. */
function sharedHeadersOf({ responses }: DescribedOperation, all: Headers = {}): Headers {
  const named = Object.values(responses).flatMap(({ headers = {} }) => Object.keys(headers))
  return Object.fromEntries(Object.entries(all).filter(([name]) => named.includes(name)))
}

/** The headers that a response describes itself. */
export const ownHeaders = ({ headers = {} }: Response): Headers =>
  Object.fromEntries(Object.entries(headers).filter(([, { $ref }]) => $ref === undefined))

function operationsOf({ paths, security = [], components }: Description): Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path,
      needsToken: (operation.security ?? security).length > 0,
      parameters: operation.parameters ?? [],
      sharedHeaders: sharedHeadersOf(operation, components?.headers),
    })),
  )
}

/** The operations grouped by their first tag, in the order of the tags. */
export function groupsOf(description: Description): Group[] {
  const byTag = Map.groupBy(operationsOf(description), ({ tags }) => tags?.[0] ?? 'other')
  const texts = new Map(description.tags?.map((tag) => [tag.name, tag.description ?? '']))
  const names = new Set([...texts.keys(), ...byTag.keys()])
  return [...names].map((name) => ({
    name,
    description: texts.get(name) ?? '',
    operations: byTag.get(name) ?? [],
  }))
}

const REFERENCE = '#/components/schemas/'

/** The name of the schema that a reference points to; null for an inline schema. */
export const referenceOf = ({ $ref }: Schema): string | null =>
  $ref?.startsWith(REFERENCE) ? $ref.slice(REFERENCE.length) : null

/** Follows a reference to its schema. */
export function resolve(schema: Schema, schemas: Schemas): Schema {
  const name = referenceOf(schema)
  return (name !== null && schemas[name]) || schema
}
