// How routes describe their answers, for the OpenAPI description.

import type { TSchema } from '@sinclair/typebox'
import { catalogue, type ErrorNumber } from '../errors'
import { ACCEPT_ENCODING } from './body'
import { headersOf } from './errors'
import { limitOf, policyOf } from './rate-limit'
import { ErrorBody } from './schemas'

const AUTHENTICATED = [40101, 40102, 42901] as const
/** The errors of a route with a body. */
export const BODY = [40001, 40002, 41301, 41501] as const
/** The errors of a route that only reads. */
export const READING = [...AUTHENTICATED, 50001, 50302] as const
/** The errors of a route that changes something. */
export const WRITING = [...AUTHENTICATED, 40301, 50001, 50301, 50302, 50701] as const

const conditional = (name: string, description: string) => ({
  name,
  in: 'header' as const,
  description,
  required: false,
  schema: { type: 'string' as const },
  example: '"xyzzy"',
})
/** The conditional headers of a request on a stored plant. */
export const CONDITIONS = {
  parameters: [
    conditional('If-Match', 'Entity tags, one of which the plant must have, or *; otherwise 412.'),
    conditional(
      'If-None-Match',
      'Entity tags, none of which the plant may have, or *; otherwise 304 to a read, 412 to a change.',
    ),
  ],
}

const HEADERS: Readonly<Record<string, string>> = {
  'accept-encoding': 'How a body may be encoded: not at all. Only if it was encoded (RFC 9110).',
  'accept-patch': 'What a patch may be sent as (RFC 5789).',
  etag: 'The entity tag of the plant, which changes with its fields (RFC 9110, section 8.8.3).',
  link: 'The next page, relative to this one (RFC 8288). Absent on the last page.',
  'retry-after': 'Seconds to wait before the next attempt.',
  'www-authenticate': 'The challenge (RFC 6750).',
}

const header = (description: string | undefined, example: string) => ({
  description,
  schema: { type: 'string' as const },
  example,
})

type Answer = {
  /** The media type; JSON if not given. */
  readonly type?: string
  readonly example?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly links?: Readonly<Record<string, object>>
}

/** The headers of an answer; an empty object if there are none. */
export function headers(all: Readonly<Record<string, string>> = {}) {
  const described = Object.entries(all).map(([name, it]) => [name, header(HEADERS[name], it)])
  return described.length > 0 ? { headers: Object.fromEntries(described) } : {}
}

/** The answer to a success; a `schema` of null: without a body. */
export function answers(
  status: number,
  description: string,
  schema: TSchema | null,
  { type = 'application/json', example, headers: sent, links }: Answer = {},
) {
  const content = schema && { [type]: { schema, ...(example === undefined ? {} : { example }) } }
  return {
    [status]: {
      description,
      ...headers(sent),
      ...(content ? { content } : {}),
      ...(links ? { links } : {}),
    },
  }
}

// The headers of an error, with those that depend on the request.
const headersWith = (error: ErrorNumber) => (error === 41501 ? ACCEPT_ENCODING : headersOf[error])

/** Headers that options of the daemon add to answers, in one place of the description. */
export const OPTIONAL_HEADERS = {
  'X-Request-Id': header('The id of the request in the log. Only with --log-requests.', 'a1b2c3'),
  RateLimit: header('How many requests the token has left. Only with --rate-limit.', limitOf(9)),
  'RateLimit-Policy': header(
    'How many requests per second the token may send. Only with --rate-limit.',
    policyOf(10),
  ),
}

/** The answers of refusals, by their status. */
export function refusals(...errors: readonly ErrorNumber[]) {
  const byStatus = Map.groupBy(errors, (error) => Math.floor(error / 100))
  return {
    '4XX': { description: 'Malformed HTTP is rejected by the parser, without a body.' },
    ...Object.fromEntries(
      [...byStatus].map(([status, numbers]) => [
        String(status),
        {
          description: numbers.map((error) => `${error}: ${catalogue[error]}`).join('; '),
          ...headers(Object.assign({}, ...numbers.map(headersWith))),
          content: {
            'application/json': {
              schema: ErrorBody,
              examples: Object.fromEntries(
                numbers.map((error) => {
                  const value = { error, message: catalogue[error] }
                  return [String(error), { summary: catalogue[error], value }]
                }),
              ),
            },
          },
        },
      ]),
    ),
  }
}

/**
 * The answers of a route, made when the description is first requested. Elysia copies the details of a route several
 * times, which took a tenth of the start (bench: start).
 */
export const responses = (make: () => object) => make as unknown as Record<string, never>
