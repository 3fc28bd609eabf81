// Builds the request of a form.
import type { Media, Operation, Parameter, Schemas } from '../description'
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

const bodyExample = ({ schema = {} }: Media, operation: Operation, schemas: Schemas): string =>
  writeExact(withoutPathFields(exampleOf(schema, schemas), operation))

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

/** The parameters of a place that have a value. */
export const filledIn = ({ parameters }: Operation, { values }: Draft, place: Parameter['in']) =>
  parameters
    .filter((one) => one.in === place)
    .flatMap((one) => (values[one.name] ? [{ ...one, value: values[one.name] ?? '' }] : []))

/** The request of a draft, without the token. `server` ends with a slash. */
export function toRequest(operation: Operation, draft: Draft, server: URL): Request {
  // Missing parameters are shown in capitals.
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(draft.values[name] || name.toUpperCase()),
  )
  const url = new URL(`.${path}`, server)
  for (const { name, value } of filledIn(operation, draft, 'query'))
    url.searchParams.append(name, value)
  const headers = filledIn(operation, draft, 'header').map(
    ({ name, value }) => [name, value] as const,
  )
  const hasBody = operation.requestBody !== undefined
  if (hasBody) headers.push(['Content-Type', draft.mediaType])
  return { method: operation.method, url: url.href, headers, body: hasBody ? draft.body : null }
}
