// The daemon accepts exactly the described parameters and fields, at every bound.
import { expect, test } from 'bun:test'
import { own } from '../harness/own'
import { ownDaemon } from '../harness/own-daemon'

type Schema = {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly string[]
  readonly minimum?: bigint
  readonly maximum?: bigint
  readonly format?: string
  readonly pattern?: string
  readonly maxLength?: bigint
  readonly items?: Schema
  readonly maxItems?: bigint
  readonly properties?: Readonly<Record<string, Schema>>
}
type Parameter = {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly schema: Schema
}
type Operation = { readonly parameters?: readonly Parameter[] }
type Description = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

/** JSON with its integers as bigints. */
const parse = (text: string): unknown =>
  JSON.parse(text, (_, value, context?: { source?: string }) =>
    Number.isInteger(value)
      ? BigInt(/^-?\d+$/.test(context?.source ?? '') ? (context?.source ?? '') : value)
      : value,
  )

const { daemon } = ownDaemon({ args: ['--keep-changes', '1d'] })
const description = own(
  async () => parse(await (await daemon.fetch('/openapi.json')).text()) as Description,
)
/** A cursor of the change log. */
const cursor = own(async () => {
  await daemon.create(1)
  const response = await daemon.fetch('/plants/changes?after=now')
  return (await response.json()) as { readonly next: string }
})

const KEYWORDS = ['type', 'enum', 'minimum', 'maximum', 'pattern', 'maxLength', 'items', 'maxItems']
const NOTES = ['format', 'default', 'description', 'examples', 'title']

const INT64 = { minimum: -(2n ** 63n), maximum: 2n ** 63n - 1n }
const toInteger = (text: string) => (/^-?\d+$/.test(text) ? BigInt(text) : text)

/** True if a schema allows a value; its keywords are those that are known here. */
function allows(schema: Schema, value: unknown): boolean {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.replace('#/components/schemas/', '')
    return allows(description.components.schemas[name] ?? {}, value)
  }
  expect(
    Object.keys(schema).filter((keyword) => ![...KEYWORDS, ...NOTES].includes(keyword)),
  ).toEqual([])
  if (schema.items && Array.isArray(value)) {
    const { items, maxItems = value.length } = schema
    return value.length <= maxItems && value.every((item) => allows(items, item))
  }
  const type = value === null ? 'null' : typeof value === 'bigint' ? 'integer' : typeof value
  if (![schema.type ?? type].flat().includes(type)) return false
  if (schema.enum && !schema.enum.some((allowed) => allowed === value)) return false
  if (typeof value === 'bigint')
    return value >= (schema.minimum ?? value) && value <= (schema.maximum ?? value)
  if (typeof value !== 'string') return true
  if (schema.format === 'int64' && !allows({ type: 'integer', ...INT64 }, toInteger(value)))
    return false
  const isShort = [...value].length <= Number(schema.maxLength ?? value.length)
  return isShort && new RegExp(schema.pattern ?? '').test(value)
}

const NUMBERS = [
  ...['0', '1', '-1', '-0', '100', '999', '1000', '1001', '9007199254740993', '1.5', '1e3', '+1'],
  ...['9223372036854775807', '9223372036854775808', '9299999999999999999', '9999999999999999999'],
  ...['9223372036854775799', '9223372036854775810', '8999999999999999999', '999999999999999999'],
  ...['-9223372036854775807', '-9223372036854775808', '-9223372036854775809'],
  ...['-9300000000000000000', '-9999999999999999999', '10000000000000000000', '1'.repeat(30)],
]
const textsAround = (next: string) => [
  ...['', 'x', ' 1', '1 ', 'now', 'NOW', 'asc', 'desc', 'ASC', 'a\nb', 'a\0b', '%', '"', 'é'],
  ...[next, next.toUpperCase(), `${next}0`, `x${next}`, next.slice(1), `${next.slice(0, 17)}`],
  ...['a', '🌱'].flatMap((text) => [text.repeat(200), text.repeat(201)]),
]
const CONDITIONS = [
  ...['*', '**', '"a"', 'W/"a"', 'w/"a"', '"a", "b"', '"a","b",W/"c"', '"a" "b"', '"a b"', 'a'],
  ...['', ',', 'W/ "a"', '"a""b"', '"', '"a', '*, "a"', '"a", *', '"a";q=1', '""', '"é"', '"a,b"'],
]

/** The value of a text in a URL or a header: a list of it, or an integer, if the schema requires one and it is one. */
function toValue({ type }: Schema, text: string): unknown {
  if (type === 'array') return [text]
  return type === 'integer' && /^-?(0|[1-9]\d*)$/.test(text) ? BigInt(text) : text
}

const listParameters = () =>
  Object.entries(description.paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, { parameters = [] }]) =>
      parameters.map((parameter) => ({ method, path, parameter })),
    ),
  )

async function statusOf(method: string, path: string, parameter: Parameter, text: string) {
  const { name, in: place } = parameter
  const id = place === 'path' ? encodeURIComponent(text) : '404'
  const query = place === 'query' ? `?${new URLSearchParams({ [name]: text })}` : ''
  const body = ['put', 'patch'].includes(method) ? { body: '{"name":"Oak"}' } : {}
  const headers: Record<string, string> = place === 'header' ? { [name]: text } : {}
  const url = `${path.replace('{id}', id)}${query}`
  const response = await daemon.fetch(url, { method: method.toUpperCase(), headers, ...body })
  await response.arrayBuffer()
  return response.status
}

test('the description has parameters of every kind', () => {
  const parameters = listParameters()
  const places = parameters.map(({ parameter }) => parameter.in)
  expect(new Set(places)).toEqual(new Set(['path', 'query', 'header']))
  expect(parameters.length).toBeGreaterThan(15)
})

test('a parameter is accepted if and only if the description allows it', async () => {
  for (const { method, path, parameter } of listParameters()) {
    const { in: place, schema, name } = parameter
    const texts = place === 'header' ? CONDITIONS : [...NUMBERS, ...textsAround(cursor.next)]
    // An empty path segment is another path.
    for (const text of texts.filter((it) => place !== 'path' || it !== '')) {
      const isAllowed = allows(schema, toValue(schema, text))
      const isRefused = (await statusOf(method, path, parameter, text)) === 400
      const sent = { method, path, name, text }
      expect({ ...sent, isRefused }).toEqual({ ...sent, isRefused: !isAllowed })
    }
  }
})

const FIELDS = ['id', 'name', 'tag']
const VALUES = [
  ...NUMBERS.filter((number) => number !== '+1'),
  ...['1.0', '1e18', '1e19', '-1e30', '"5"', 'null', 'true', '[]', '{}', '""', '"a"', '"a\\u0000"'],
]

test.each([
  ['NewPlant', 'POST', '/plants'],
  ['Replacement', 'PUT', '/plants/ID'],
  ['PlantPatch', 'PATCH', '/plants/ID'],
])('a body is refused exactly if the schema %s forbids it', async (name, method, path) => {
  const { properties = {} } = description.components.schemas[name] ?? {}
  for (const field of FIELDS) {
    for (const json of VALUES) {
      const value = parse(json)
      const id = field === 'id' && typeof value === 'bigint' ? String(value) : '1'
      const others = Object.entries({ id, name: '"Rose"' }).filter(([it]) => it !== field)
      const fields = [...others, [field, json]].map(([name, text]) => `"${name}":${text}`)
      const isInPath = allows(properties.id ?? {}, BigInt(id))
      const url = path.replace('ID', isInPath ? id : '1')
      const response = await daemon.fetch(url, { method, body: `{${fields}}` })

      const isAllowed = allows(properties[field] ?? {}, value)
      expect({ field, json, isRefused: response.status === 400 }).toEqual({
        field,
        json,
        isRefused: !isAllowed,
      })
    }
  }
})
