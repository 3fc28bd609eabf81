// The routes' descriptions of their answers, for OpenAPI.

import type { TSchema } from '@sinclair/typebox'
import type { ErrorName } from '../../errors'
import type { Media } from '../bodies/body'
import { CONDITION_PATTERN } from '../conditions/precondition'

declare module 'elysia/types' {
  interface DocumentDecoration {
    /** The media types of the body; JSON by default. */
    media?: Media
    /**
     * The successes. A function: Elysia copies details several times, which slowed the start
     * (`bun run --cwd bench start`).
     */
    answers?: () => Readonly<Record<string, object>>
    /** Errors besides those of every route that has a body, reads or changes something. */
    refusals?: readonly ErrorName[]
  }
}

const conditional = (name: string, description: string) => ({
  name,
  in: 'header' as const,
  description,
  required: false,
  schema: { type: 'string' as const, pattern: CONDITION_PATTERN },
  example: '"xyzzy"',
})

/** The conditional headers and the errors of all routes of a stored plant. */
export const STORED_PLANT = {
  refusals: ['no such plant' as const, 'precondition failed' as const, 'busy' as const],
  parameters: [
    conditional('If-Match', 'Entity tags, one of which the plant must have, or *; otherwise 412.'),
    conditional(
      'If-None-Match',
      'Entity tags, none of which the plant may have, or *; otherwise 304 to a read, 412 to a change.',
    ),
  ],
}

const HEADERS: Readonly<Record<string, string>> = {
  'accept-encoding': 'Sent if the body was encoded: it must not be (RFC 9110).',
  'accept-patch': 'The media types of a patch (RFC 5789).',
  etag: 'The entity tag of the plant, which changes with its fields (RFC 9110, section 8.8.3).',
  link: 'The next page, relative to this one (RFC 8288). Absent on the last page, and if it is too long for a URL.',
  'retry-after': 'Seconds to wait before the next attempt.',
  'www-authenticate': 'The challenge (RFC 6750).',
}

export const header = (description: string | undefined, example: string) => ({
  description,
  schema: { type: 'string' as const },
  example,
})

type DescribedAnswer = {
  /** The media type; JSON by default. */
  readonly type?: string
  readonly example?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly links?: Readonly<Record<string, object>>
}

/** The headers of an answer, by their examples. */
export const headers = (examples: Readonly<Record<string, string>> = {}) =>
  Object.fromEntries(
    Object.entries(examples).map(([name, example]) => [name, header(HEADERS[name], example)]),
  )

/** The answer to a success; with a `schema` of null, it has no body. */
export function answers(
  status: number,
  description: string,
  schema: TSchema | null,
  { type = 'application/json', example, headers: headerExamples, links }: DescribedAnswer = {},
) {
  const content = schema ? { [type]: { schema, example } } : undefined
  return { [status]: { description, headers: headers(headerExamples), content, links } }
}
