// A request of a form as code, with the token in the environment variable TOKEN, so that the code can be shared.
import type { Operation } from '../description'
import { indent, parseExact, type Token, writeExact } from '../json-text'
import type { Draft, Request } from './request'

/** A completed form, and its request. */
export type Filled = {
  readonly operation: Operation
  readonly draft: Draft
  readonly request: Request
  readonly server: URL
}

// Placeholder for an id that is not typed yet.
const ID_PLACEHOLDER = 'ID'

/** A string literal of TypeScript, Python and Go: JSON without the characters that any of them forbids. */
const quote = (text: string): string =>
  JSON.stringify(text.toWellFormed()).replaceAll('\ufeff', '\\ufeff')

/** JSON with its tokens in the spelling of another language; null if the text is not JSON. */
const spelled = (text: string, spell: (token: Token) => string): string | null =>
  indent(text)?.map(spell).join('') ?? null

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
  return spelled(writeExact(value), spell) ?? ''
}

function fieldsOf(body: string | null): Readonly<Record<string, unknown>> | null {
  try {
    const value = parseExact(body ?? '{}')
    return typeof value === 'object' && value && !Array.isArray(value) ? { ...value } : null
  } catch {
    return null
  }
}

/** The text of a parameter as our client takes it. */
function typedOf(text: string, type: unknown): string | number | boolean {
  if (type === 'integer') return Number(text)
  return type === 'boolean' && ['true', 'false'].includes(text) ? text === 'true' : text
}

/** The call of our client; null if it has none for this request. */
function callOf({ operation, draft, request }: Filled): string | null {
  const { operationId, parameters } = operation
  const body = fieldsOf(request.body)
  const pairs = parameters.flatMap(({ name, in: place, schema }) => {
    const value = draft.values[name] ?? ''
    return value === '' ? [] : [{ name, place, value, type: schema.type }]
  })
  const digits = pairs.find(({ place }) => place === 'path')?.value ?? ID_PLACEHOLDER
  if (!body || !/^(-?\d+|ID)$/.test(digits)) return null
  const id = digits === ID_PLACEHOLDER ? digits : BigInt(digits)
  const argument = typeof id === 'bigint' ? `${id}n` : id
  const query = literal(
    Object.fromEntries(
      pairs
        .filter(({ place }) => place === 'query')
        .map(({ name, value, type }) => [name, typedOf(value, type)]),
    ),
  )
  const plant = literal(Object.assign({ id }, body, { id }))
  const calls: Readonly<Record<string, readonly string[]>> = {
    health: [],
    readToken: [],
    readStatus: [],
    createPlant: [literal(body)],
    createPlants: [literal(body.plants ?? [])],
    putPlants: [literal(body.plants ?? [])],
    patchPlants: [literal(body.plants ?? [])],
    deletePlants: [literal(body.plants ?? [])],
    listTags: [query],
    listPlants: [query],
    readPlant: [argument],
    replacePlant: [plant],
    patchPlant: [argument, literal(body)],
    deletePlant: [argument],
    listChanges: [query],
    listHistory: [query],
    history: [argument, query],
  }
  const call = calls[operationId]
  if (!call) return null
  const own = operationId === 'readPlant' ? 'If-None-Match' : 'If-Match'
  const headers = pairs.filter(({ place }) => place === 'header')
  const options = literal({
    ...Object.fromEntries(
      headers
        .filter(({ name }) => name === own)
        .map(({ value }) => [own === 'If-Match' ? 'ifMatch' : 'ifNoneMatch', value]),
    ),
    ...Object.fromEntries(
      headers
        .filter(({ name }) => name !== own)
        .map(({ name, value }) => ['headers', { [name]: value }]),
    ),
  })
  // An empty query or empty options may be left out; an empty body may not.
  const empty = request.body === null ? /((, |^)\{\})+$/ : /, \{\}$/
  const given = [...call, options].join(', ').replace(empty, '')
  return `${operationId}(${given})`
}

function typeScript(filled: Filled): string {
  const { operation, request, server } = filled
  const call = callOf(filled)
  if (call !== null)
    return `import { env } from 'node:process'
// Install from a release, not from the npm registry: npm install ./plantstore-client-VERSION.tgz
import { createClient } from 'plantstore/client'

const client = createClient({ url: ${quote(server.href)}, token: env.TOKEN ?? '' })
const result = await client.${call}
if (result.ok) console.log(result.value, result.etag)
else console.error(result.error, result.message)`
  const { method, url, headers, body } = request
  const lines = [
    ...(operation.needsToken ? ['    Authorization: "Bearer " + env.TOKEN,'] : []),
    ...headers.map(([name, value]) => `    ${quote(name)}: ${quote(value)},`),
  ]
  return `${operation.needsToken ? "import { env } from 'node:process'\n\n" : ''}const answer = await fetch(${quote(url)}, {
  method: '${method}',${lines.length === 0 ? '' : `\n  headers: {\n${lines.join('\n')}\n  },`}${
    body === null ? '' : `\n  body: ${quote(body)},`
  }
})
console.log(answer.status, await answer.text())`
}

const PYTHON_WORDS: Readonly<Record<string, string>> = {
  true: 'True',
  false: 'False',
  null: 'None',
}

// Python's integers have any size; other numbers could be rounded, so such a body stays text.
function python({ operation, request: { method, url, headers, body } }: Filled): string {
  const isExact = !/[\d][.eE]/.test(body ?? '')
  const value = isExact
    ? spelled(body ?? '', ({ kind, text }) =>
        kind === 'key' || kind === 'string'
          ? quote(JSON.parse(text))
          : (PYTHON_WORDS[text] ?? text),
      )
    : null
  const lines = [
    ...(operation.needsToken ? ['"Authorization": "Bearer " + os.environ["TOKEN"]'] : []),
    ...headers.map(([name, value]) => `${quote(name)}: ${quote(value)}`),
  ]
  const data = value === null ? `${quote(body ?? '')}.encode()` : 'json.dumps(body).encode()'
  return `${value === null ? '' : 'import json\n'}${operation.needsToken ? 'import os\n' : ''}import urllib.error
import urllib.request

${value === null ? '' : `body = ${value}\n`}request = urllib.request.Request(
    ${quote(url)},
    method="${method}",
    headers={${lines.map((line) => `\n        ${line},`).join('')}${lines.length === 0 ? '' : '\n    '}},${
      body === null ? '' : `\n    data=${data},`
    }
)
try:
    with urllib.request.urlopen(request) as answer:
        print(answer.status, answer.headers["ETag"], answer.read().decode())
except urllib.error.HTTPError as refusal:
    print(refusal.status, refusal.read().decode())`
}

// A raw literal if Go allows it.
const goQuote = (text: string): string => (/[`\r\0\ufeff]/.test(text) ? quote(text) : `\`${text}\``)

function go({ operation, request: { method, url, headers, body } }: Filled): string {
  const lines = [
    ...(operation.needsToken
      ? ['request.Header.Set("Authorization", "Bearer "+os.Getenv("TOKEN"))']
      : []),
    ...headers.map(([name, value]) => `request.Header.Set(${quote(name)}, ${quote(value)})`),
  ]
  const reader = body === null ? 'nil' : `strings.NewReader(${goQuote(body.toWellFormed())})`
  const packages = [
    'fmt',
    'io',
    'log',
    'net/http',
    ...(operation.needsToken ? ['os'] : []),
    ...(body === null ? [] : ['strings']),
  ]
  return `package main

import (
${packages.map((name) => `\t"${name}"`).join('\n')}
)

func main() {
	request, err := http.NewRequest("${method}", ${quote(url)}, ${reader})
	if err != nil {
		log.Fatal(err)
	}
${lines.map((line) => `\t${line}\n`).join('')}	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.Status, answer.Header.Get("ETag"), string(text))
}`
}

/** The function that writes a request in each language. */
export const LANGUAGES = { curl, TypeScript: typeScript, Python: python, Go: go } as const
export type Language = keyof typeof LANGUAGES
export const LANGUAGE_NAMES: readonly Language[] = ['curl', 'TypeScript', 'Python', 'Go']
