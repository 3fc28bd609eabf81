// The searchable words, in lower case.
import type { Operation, Schema } from './description'

/** The words of an operation, with its parameters, statuses and error numbers. */
export function operationWords(operation: Operation): string {
  const { operationId, method, path, summary, description, parameters, responses } = operation
  const errors = Object.values(responses).flatMap(({ content = {} }) =>
    Object.values(content).flatMap(({ examples = {} }) => Object.keys(examples)),
  )
  const names = [...parameters, ...Object.keys(operation.sharedHeaders).map((name) => ({ name }))]
  return [operationId, method, path, summary, description]
    .concat(
      names.map(({ name }) => name),
      Object.keys(responses),
      errors,
    )
    .concat(Object.values(responses).flatMap(({ headers = {} }) => Object.keys(headers)))
    .join(' ')
    .toLowerCase()
}

/** The words of a schema: its fields too. */
export const schemaWords = (name: string, { description, properties = {} }: Schema): string =>
  [name, description, ...Object.keys(properties)].join(' ').toLowerCase()
