// The messages of an error by form field.

import { ERRORS, type Failure } from '../../../client/client.ts'
import { TEXTS, type TextName } from '../texts.ts'

const NAMED = /^(\w+)(?:: | is missing)/
const FIELDS = ['id', ...TEXTS]
// Errors about whether a plant with this id exists.
const OF_ID: readonly number[] = [ERRORS['no such plant'], ERRORS['stored already'], ERRORS.taken]

/** Messages by field; those that name no field are under `form`. */
export type FieldErrors = { readonly [field in 'id' | TextName | 'form']?: string }

/** The messages of a failure by field. */
export function byField({ error, message }: Failure): FieldErrors {
  if (OF_ID.includes(error)) return { id: message }
  if (error !== ERRORS.invalid) return { form: message }
  const named: Record<string, string[]> = {}
  for (const part of message.split('; ')) {
    const name = NAMED.exec(part)?.[1]
    const field = FIELDS.find((known) => known === name) ?? 'form'
    named[field] = [...(named[field] ?? []), part]
  }
  return Object.fromEntries(
    Object.entries(named).map(([field, parts]) => [field, parts.join('; ')]),
  )
}
