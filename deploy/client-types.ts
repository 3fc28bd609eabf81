// Writes src/client/types.ts, the types of the client, as the service describes itself: `bun run client:types`.
import { join } from 'node:path'
import { root, startDaemon, temporaryFolder } from '../test/harness/daemon'

/** A schema of the description, as far as the service uses JSON Schema. */
type Schema = {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
}

type Answer = {
  readonly content?: Readonly<
    Record<string, { readonly examples?: Readonly<Record<string, unknown>> }>
  >
}

type Operation = {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly parameters?: readonly Parameter[]
  readonly responses: Readonly<Record<string, Answer>>
}

type Parameter = {
  readonly name: string
  readonly in: string
  readonly description: string
  readonly required: boolean
  readonly schema: Schema
}

/** What the types are made of. */
export type Description = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

const HEAD = `// Made by \`bun run client:types\` of what the service says of itself at /openapi.json: do not edit.
`

function typeOf(schema: Schema): string {
  const { $ref, type, format, items, anyOf } = schema
  if ($ref) return $ref.split('/').at(-1) ?? ''
  if (Array.isArray(type)) return type.map((it) => typeOf({ type: it })).join(' | ')
  if (anyOf) return anyOf.map(typeOf).join(' | ')
  if (type === 'integer') return format === 'int64' ? 'bigint' : 'number'
  if (type === 'array' && items) return `readonly ${typeOf(items)}[]`
  if (type === 'object') return `{\n${fieldsOf(schema)}}`
  if (type === 'string' || type === 'null') return type
  throw new Error(`no type for ${JSON.stringify(schema)}`)
}

const comment = (text: string | undefined, indent: string): string =>
  text ? `${indent}/** ${text} */\n` : ''

function fieldsOf({ properties = {}, required = [] }: Schema): string {
  return Object.entries(properties)
    .map(([name, schema]) => {
      const optional = required.includes(name) ? '' : '?'
      return `${comment(schema.description, '  ')}  readonly ${name}${optional}: ${typeOf(schema)}\n`
    })
    .join('')
}

function errorsOf(operations: readonly Operation[]): string[] {
  const examples = operations
    .flatMap(({ responses }) => Object.values(responses))
    .flatMap(({ content = {} }) => Object.values(content))
    .flatMap(({ examples = {} }) => Object.keys(examples))
  return [...new Set(examples)].filter((name) => /^\d{5}$/.test(name)).sort()
}

// The parameters of a query as the fields of an object.
function queryOf({ operationId, parameters = [] }: Operation): string {
  const own = parameters.filter((it) => it.in === 'query')
  if (own.length === 0) return ''
  const properties = own.map(({ name, description, schema }) => [name, { ...schema, description }])
  const required = own.filter((it) => it.required).map(({ name }) => name)
  const fields = fieldsOf({ properties: Object.fromEntries(properties), required })
  const name = `${operationId.slice(0, 1).toUpperCase()}${operationId.slice(1)}Query`
  return `\n/** The parameters of \`${operationId}\`. */\nexport type ${name} = {\n${fields}}\n`
}

const union = (members: readonly string[]): string => members.map((it) => `\n  | ${it}`).join('')

/** The source of the types. */
export function clientTypes({ paths, components }: Description): string {
  // The names of both say nothing to a user of the client.
  const { Health, Error: ErrorBody, ...schemas } = components.schemas
  const operations = Object.values(paths)
    .flatMap((path) => Object.values(path))
    .filter(({ tags }) => tags.includes('plants'))
  const types = Object.entries(schemas)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, it]) => `\n${comment(it.description, '')}export type ${name} = ${typeOf(it)}\n`)
  return [
    HEAD,
    ...types,
    ...operations.map(queryOf),
    `\n/** Every operation on plants. */\nexport type Operation =${union(operations.map(({ operationId }) => `'${operationId}'`).sort())}\n`,
    `\n/** Every error number that the service documents. */\nexport type KnownError =${union(errorsOf(operations))}\n`,
  ].join('')
}

if (import.meta.main) {
  using folder = temporaryFolder()
  await using daemon = await startDaemon({ database: folder.file('plants.db') })
  const description: Description = JSON.parse(await (await daemon.fetch('/openapi.json')).text())
  await Bun.write(join(root, 'src/client/types.ts'), clientTypes(description))
}
