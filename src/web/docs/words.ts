// The words of an operation by which it is found, in lower case.
import type { Operation, Response, Schema } from './description'

// With its headers and error numbers.
const responseWords = ({ headers = {}, content = {} }: Response): readonly string[] => [
  ...Object.keys(headers),
  ...Object.values(content).flatMap(({ examples = {} }) => Object.keys(examples)),
]

/** The words of an operation, with its parameters, statuses and error numbers. */
export function operationWords(operation: Operation): string {
  const { operationId, method, path, summary, description, parameters, responses } = operation
  return [
    ...[operationId, method, path, summary, description],
    ...parameters.map(({ name }) => name),
    ...Object.keys(operation.sharedHeaders),
    ...Object.keys(responses),
    ...Object.values(responses).flatMap(responseWords),
  ]
    .join(' ')
    .toLowerCase()
}

/** The words of a schema: its fields too. */
export const schemaWords = (name: string, { description, properties = {} }: Schema): string =>
  [name, description, ...Object.keys(properties)].join(' ').toLowerCase()
