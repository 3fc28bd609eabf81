// A request of a form as code, with the token in the environment variable TOKEN, so that the code can be shared.
import type { Operation } from '../description'
import { indent, parseExact, type Token, writeExact } from '../json-text'
import { type Draft, filledIn, type Request } from './request'

/** A completed form, and its request. */
export type Filled = {
  readonly operation: Operation
  readonly draft: Draft
  readonly request: Request
  readonly server: URL
}

// Placeholder for an id that is not typed yet.
const ID_PLACEHOLDER = 'ID'

/** A string literal of TypeScript. */
const quote = (text: string): string => JSON.stringify(text.toWellFormed())

const shellQuote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

// `--data-raw`, because `--data-binary` reads a body that begins with @ as a file name.
function curl({ operation, request: { method, url, headers, body } }: Filled): string {
  const usual = body === null ? 'GET' : 'POST'
  return [
    `curl ${shellQuote(url)}`,
    ...(method === usual ? [] : [`-X ${method}`]),
    ...(operation.needsToken ? ['-H "Authorization: Bearer $TOKEN"'] : []),
    ...headers.map(([name, value]) => `-H ${shellQuote(`${name}: ${value}`)}`),
    ...(body === null ? [] : [`--data-raw ${shellQuote(body)}`]),
  ].join(' \\\n  ')
}

/** A value as TypeScript; ids are bigints. */
function literal(value: unknown): string {
  let key = ''
  const spell = ({ kind, text }: Token): string => {
    if (kind === 'key') key = text
    const isId = key === '"id"'
    if (kind === 'number') return isId && /^-?\d+$/.test(text) ? `${text}n` : text
    if (isId && text === `"${ID_PLACEHOLDER}"`) return ID_PLACEHOLDER
    if (kind === 'key' && /^"[a-z]\w*"$/i.test(text)) return text.slice(1, -1)
    return kind === 'key' || kind === 'string' ? quote(JSON.parse(text)) : text
  }
  return indent(writeExact(value))?.map(spell).join('') ?? ''
}

function fieldsOf(body: string | null): Readonly<Record<string, unknown>> | null {
  try {
    const value = parseExact(body ?? '{}')
    return typeof value === 'object' && value && !Array.isArray(value) ? { ...value } : null
  } catch {
    return null
  }
}

/** The value of a parameter as our client takes it. */
function typedOf({ value, schema: { type } }: ReturnType<typeof filledIn>[number]) {
  if (type === 'integer') return Number(value)
  return type === 'boolean' && ['true', 'false'].includes(value) ? value === 'true' : value
}

// They are for other programs.
const WITHOUT_CALL: readonly string[] = ['openapi', 'metrics']

/** The call of our client; null if it has none for this request. */
function callOf({ operation, draft, request }: Filled): string | null {
  const { operationId, parameters } = operation
  const body = fieldsOf(request.body)
  const digits = filledIn(operation, draft, 'path')[0]?.value ?? ID_PLACEHOLDER
  if (WITHOUT_CALL.includes(operationId) || !body || !/^(-?\d+|ID)$/.test(digits)) return null
  const id = digits === ID_PLACEHOLDER ? digits : BigInt(digits)
  const has = (place: string) => parameters.some((parameter) => parameter.in === place)
  const isReplacement = operationId === 'replacePlant'
  const ofMany = operationId.endsWith('Plants') ? (body.plants ?? []) : body
  const content = isReplacement ? Object.assign({ id }, body, { id }) : ofMany
  const query = filledIn(operation, draft, 'query').map((one) => [one.name, typedOf(one)])
  const own = operationId === 'readPlant' ? 'If-None-Match' : 'If-Match'
  const options = filledIn(operation, draft, 'header').map(({ name, value }) =>
    name === own
      ? [own === 'If-Match' ? 'ifMatch' : 'ifNoneMatch', value]
      : ['headers', { [name]: value }],
  )
  const all = [
    ...(has('path') && !isReplacement ? [typeof id === 'bigint' ? `${id}n` : id] : []),
    ...(request.body === null ? [] : [literal(content)]),
    ...(has('query') ? [literal(Object.fromEntries(query))] : []),
    literal(Object.fromEntries(options)),
  ]
  // An empty query or empty options may be left out; an empty body may not.
  const empty = request.body === null ? /((, |^)\{\})+$/ : /, \{\}$/
  return `${operationId}(${all.join(', ').replace(empty, '')})`
}

/** A TypeScript program that uses our client; null if the client has no method for this request. */
function typeScript(filled: Filled): string | null {
  const call = callOf(filled)
  return (
    call &&
    `import { env } from 'node:process'
// Install from a release, not from the npm registry: npm install ./plantstore-client-VERSION.tgz
import { createClient } from 'plantstore/client'

const client = createClient({ url: ${quote(filled.server.href)}, token: env.TOKEN ?? '' })
const result = await client.${call}
if (result.ok) console.log(result.value, result.etag)
else console.error(result.error, result.message)`
  )
}

/** The function that writes a request in each language; null if it cannot. */
export const LANGUAGES = { curl, TypeScript: typeScript } as const
