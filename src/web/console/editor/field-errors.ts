// The messages of an error by form field.

import { ERRORS, type Failure } from '../../../client/client.ts'
import { TEXTS, type TextName } from '../texts.ts'

const FIELD_PREFIX = /^(\w+)(?:: | is missing)/
const FIELDS = ['id', ...TEXTS]
// Errors about whether a plant with this id exists.
const ID_ERRORS: readonly number[] = [
  ERRORS['no such plant'],
  ERRORS['stored already'],
  ERRORS.taken,
]

/** Messages by field; those that name no field are under `form`. */
export type FieldErrors = { readonly [field in 'id' | TextName | 'form']?: string }

/** The messages of a failure by field. */
export function errorsByField({ error, message }: Failure): FieldErrors {
  if (ID_ERRORS.includes(error)) return { id: message }
  if (error !== ERRORS.invalid) return { form: message }
  const messages: Record<string, string[]> = {}
  for (const part of message.split('; ')) {
    const name = FIELD_PREFIX.exec(part)?.[1]
    const field = FIELDS.find((known) => known === name) ?? 'form'
    messages[field] = [...(messages[field] ?? []), part]
  }
  return Object.fromEntries(
    Object.entries(messages).map(([field, parts]) => [field, parts.join('; ')]),
  )
}
