// The routes' descriptions of their responses, for OpenAPI.

import * as t from '@sinclair/typebox'
import type { ErrorName } from '../../request-errors'
import { CONDITION_PATTERN } from '../conditions/precondition'

declare module 'elysia/types' {
  interface DocumentDecoration {
    /**
     * The successes by their status: the schemas of the body, one for each media type, or a description without a body.
     * A function: Elysia copies details several times, which slowed the start (`bun run --cwd bench start`).
     */
    successes?: () => Readonly<Record<number, t.TSchema | readonly t.TSchema[] | string>>
    /** The headers of a success. */
    headers?: readonly HeaderName[]
    /** The operations that take the id of the body. */
    links?: readonly string[]
    /** Errors besides those of every route that has a body, reads or changes something. */
    refusals?: readonly ErrorName[]
  }
}

/** The description and an example of each header. */
const HEADERS = {
  'accept-encoding': ['Sent if the body was encoded: it must not be (RFC 9110).', 'identity'],
  'accept-patch': [
    'The media types of a patch (RFC 5789).',
    'application/merge-patch+json, application/json',
  ],
  etag: [
    'The entity tag of the plant, which changes with its fields (RFC 9110, section 8.8.3).',
    '"xyzzy"',
  ],
  link: [
    'The next page, relative to this one (RFC 8288). Absent on the last page, and if it is too long for a URL.',
    '<?limit=1&after=1>; rel="next"',
  ],
  'Plantstore-Cursor': [
    'The cursor of the change, or of a later one. Only with a change log.',
    '5d1be2a07c93f648-17',
  ],
  'retry-after': ['Seconds to wait before the next attempt.', '1'],
  'www-authenticate': ['The challenge (RFC 6750).', 'Bearer realm="plantstore"'],
  'X-Request-Id': ['The id of the request in the request log. Only with --log-requests.', 'a1b2c3'],
} as const

export type HeaderName = keyof typeof HEADERS

/** The headers of a response. */
export const headers = (names: readonly HeaderName[] = []) =>
  Object.fromEntries(
    names.map((name) => {
      const [description, example] = HEADERS[name]
      return [name, { description, schema: { type: 'string' }, example }]
    }),
  )

const condition = (description: string) =>
  t.Optional(t.String({ description, pattern: CONDITION_PATTERN, examples: ['"xyzzy"'] }))

/** The headers of requests for a stored plant. */
export const CONDITIONS = t.Object({
  'If-Match': condition('Entity tags, one of which the plant must have, or *; otherwise 412.'),
  'If-None-Match': condition(
    'Entity tags, none of which the plant may have, or *; otherwise 304 to a read, 412 to a change.',
  ),
})

/** The errors of the routes of a stored plant, which take conditions. */
export const STORED_PLANT = ['no such plant', 'precondition failed'] as const
