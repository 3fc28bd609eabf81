// Checks what requests send against its schema.

import type { Static, TObject, TSchema } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { listMismatches } from '../plant/mismatch'
import { Int64, parseInt64 } from '../plant/plant'
import { RequestError } from '../request-errors'

const validators = new WeakMap<TSchema, ReturnType<typeof TypeCompiler.Compile>>()

/**
 * Returns a value that matches a schema, which is compiled at its first use to keep the start fast. `invalid` lists
 * what does not match.
 */
export function check<Schema extends TSchema>(schema: Schema, value: unknown): Static<Schema> {
  const validator = validators.getOrInsertComputed(schema, () => TypeCompiler.Compile(schema))
  if (validator.Check(value)) return value as Static<Schema>
  throw new RequestError('invalid', listMismatches(validator, value))
}

const STRAY_PERCENT = /%(?![\da-f]{2})/gi

/** Reads the parameters of a query. A repeated one is refused, unless it is a list. */
export function readQuery<Schema extends TObject>({ url }: Request, schema: Schema) {
  const [text = ''] = /\?.*/s.exec(url) ?? []
  try {
    decodeURIComponent(text.replace(STRAY_PERCENT, '%25'))
  } catch {
    throw new RequestError('invalid', 'the query is not UTF-8')
  }
  const parameters = new URLSearchParams(text)
  const query = Object.fromEntries<unknown>(parameters)
  const repeated: string[] = []
  for (const [name, { type }] of Object.entries(schema.properties)) {
    const values = parameters.getAll(name)
    if (type === 'array' && values.length > 0) query[name] = values
    else if (values.length > 1) repeated.push(name)
  }
  if (repeated.length > 0)
    throw new RequestError('invalid', `given more than once: ${repeated.join(', ')}`)
  return check(schema, query)
}

/** Reads the id of a plant's path. */
export function readId(params: { readonly id: string }): Int64 {
  const id = parseInt64(params.id)
  if (id === null) throw new RequestError('invalid', `id: ${Int64.error}`)
  return id
}
