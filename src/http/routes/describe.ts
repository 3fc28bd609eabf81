// The routes' descriptions of their answers, for OpenAPI.

import type { TObject, TSchema } from '@sinclair/typebox'
import type { ErrorName } from '../../request-errors'
import { CONDITION_PATTERN } from '../conditions/precondition'

declare module 'elysia/types' {
  interface DocumentDecoration {
    /** A function: Elysia copies details several times, which slowed the start (`bun run --cwd bench start`). */
    schemas: () => Schemas
    /** The headers of a success. */
    headers?: readonly HeaderName[]
    /** The operations that take the id of the body. */
    links?: readonly string[]
    /** Errors besides those of every route that has a body, reads or changes something. */
    refusals?: readonly ErrorName[]
  }
}

/**
 * The schemas of a route's query and body, and of its successes by their status: one for each media type, or a
 * description without a body.
 */
export type Schemas = {
  readonly query?: TObject
  readonly body?: TSchema
  readonly [status: number]: TSchema | readonly TSchema[] | string
}

/** The description of each header. */
const HEADERS = {
  'accept-encoding': 'Sent if the body was encoded: it must not be (RFC 9110).',
  'accept-patch': 'The media types of a patch (RFC 5789).',
  etag: 'The entity tag of the plant, which changes with its fields (RFC 9110, section 8.8.3).',
  link: 'The next page, relative to this one (RFC 8288). Absent on the last page, and if it is too long for a URL.',
  'Plantstore-Cursor': 'The cursor of the change, or of a later one. Only with a change log.',
  'retry-after': 'Seconds to wait before the next attempt.',
  'www-authenticate': 'The challenge (RFC 6750).',
  'X-Request-Id': 'The id of the request in the request log. Only with --log-requests.',
} as const

export type HeaderName = keyof typeof HEADERS

/** The headers of an answer. */
export const headers = (names: readonly HeaderName[] = []) =>
  Object.fromEntries(
    names.map((name) => [name, { description: HEADERS[name], schema: { type: 'string' } }]),
  )

/** A header of a request. */
export const requestHeader = (
  name: string,
  description: string,
  example: string,
  pattern?: string,
) => ({
  name,
  in: 'header' as const,
  description,
  required: false,
  schema: { type: 'string' as const, ...(pattern === undefined ? {} : { pattern }) },
  example,
})

const condition = (name: string, description: string) =>
  requestHeader(name, description, '"xyzzy"', CONDITION_PATTERN)

/** The conditional headers and the errors of all routes of a stored plant. */
export const STORED_PLANT = {
  refusals: ['no such plant' as const, 'precondition failed' as const],
  parameters: [
    condition('If-Match', 'Entity tags, one of which the plant must have, or *; otherwise 412.'),
    condition(
      'If-None-Match',
      'Entity tags, none of which the plant may have, or *; otherwise 304 to a read, 412 to a change.',
    ),
  ],
}
