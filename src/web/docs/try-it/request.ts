// Builds the request of a form.
import type { Media, Operation, Schemas } from '../description'
import { writeExact } from '../json-text'
import { exampleOf } from '../schema'

/** The input for an operation. Empty values are not sent. */
export type Draft = {
  readonly values: Readonly<Record<string, string>>
  readonly mediaType: string
  readonly body: string
}

export type Request = {
  readonly method: string
  readonly url: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: string | null
}

// Omits a field that is also in the path, as both would have to be equal.
function withoutPathFields(example: unknown, { parameters }: Operation): unknown {
  if (typeof example !== 'object' || example === null || Array.isArray(example)) return example
  const inPath = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name)
  return Object.fromEntries(Object.entries(example).filter(([name]) => !inPath.includes(name)))
}

function bodyExample(media: Media, operation: Operation, schemas: Schemas): string {
  const [first] = Object.values(media.examples ?? {})
  const given = media.example ?? first?.value
  if (given !== undefined) return writeExact(given)
  return writeExact(withoutPathFields(exampleOf(media.schema ?? {}, schemas), operation))
}

/** The initial state of the form, with an example body. */
export function firstDraft(operation: Operation, schemas: Schemas): Draft {
  const [entry] = Object.entries(operation.requestBody?.content ?? {})
  if (!entry) return { values: {}, mediaType: '', body: '' }
  const [mediaType, media] = entry
  return { values: {}, mediaType, body: bodyExample(media, operation, schemas) }
}

/** The names of required parameters that are empty. */
export const missingIn = (operation: Operation, { values }: Draft): string[] =>
  operation.parameters
    .filter(({ name, required }) => required && !values[name])
    .map(({ name }) => name)

/** The request of a draft, without the token. `server` ends with a slash. */
export function toRequest(operation: Operation, draft: Draft, server: URL): Request {
  const given = operation.parameters.flatMap((parameter) => {
    const value = draft.values[parameter.name] ?? ''
    return value === '' ? [] : [{ ...parameter, value }]
  })
  const inPath = new Map(
    given.filter((parameter) => parameter.in === 'path').map(({ name, value }) => [name, value]),
  )
  // Missing parameters are shown in capitals.
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(inPath.get(name) ?? name.toUpperCase()),
  )
  const url = new URL(`.${path}`, server)
  for (const parameter of given)
    if (parameter.in === 'query') url.searchParams.append(parameter.name, parameter.value)
  const headers = given
    .filter((parameter) => parameter.in === 'header')
    .map(({ name, value }): [string, string] => [name, value])
  const hasBody = operation.requestBody !== undefined
  if (hasBody) headers.push(['Content-Type', draft.mediaType])
  const body = hasBody ? draft.body : null
  return { method: operation.method, url: url.href, headers, body }
}
