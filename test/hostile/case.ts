// A case of the hostile catalogue: bytes to send, and what must come back.
import { TOKEN } from '../harness/daemon'

/** A plant in the store after a case. */
export type Row = readonly [id: bigint | number, name: string, tag?: string]

/**
 * The answer:
 *
 * - Five digits: an Error with this number and its status.
 * - 2xx: a success; with a text, exactly this body.
 * - 100: the interim answer to `Expect: 100-continue`.
 * - 4xx and 5xx: refused by Bun's parser, without a body; the connection is closed.
 */
export type Expected = number | readonly [status: number, body: string]

export type Case = {
  /** A sentence. */
  readonly name: string
  readonly bytes: Uint8Array
  readonly answers: readonly Expected[]
  /** Set if the answer has no body because of the method. */
  readonly method?: 'HEAD'
  /** The connection afterwards: ready for the next request (default), closed, or waiting for the rest of this one. */
  readonly after?: 'open' | 'closed' | 'waiting'
  /** The client ends its side of the connection after the bytes. */
  readonly isCut?: true
  /** The plants stored in addition to the {@link fixture}; default: none. */
  readonly stores?: readonly Row[]
  /** The daemon may close without an answer; then it may or may not have stored the plants. */
  readonly isUnknown?: true
  /** The plants stored instead of the fixture. */
  readonly replaces?: readonly Row[]
}

/** The plant in the store before each case. */
export const fixture: Row = [1, 'Fern', 'green']

/** The answer to a read of it. */
export const fern: Expected = [200, '{"id":1,"name":"Fern","tag":"green"}']

/** Placeholders of tokens, which the test replaces by real ones. Of the same length, so that no offset changes. */
export const tokens = {
  read: `test_read_${'r'.repeat(37)}`,
  expired: `test_expired_${'e'.repeat(34)}`,
  revoked: `test_revoked_${'v'.repeat(34)}`,
} as const

const bearer = `Bearer ${TOKEN}`

export type Body = string | Uint8Array

/** The bytes of a text in UTF-8, or the bytes themselves. */
export const toBytes = (body: Body): Uint8Array =>
  typeof body === 'string' ? new TextEncoder().encode(body) : body

/** The bytes of a text, one per character. */
export const latin1 = (text: string): Uint8Array => Buffer.from(text, 'latin1')

export const concat = (...parts: readonly Body[]): Uint8Array =>
  Buffer.concat(parts.map((part) => toBytes(part)))

export type RequestParts = {
  readonly line?: string
  readonly host?: string | null
  readonly authorization?: string | null
  readonly type?: string | null
  /** Further header lines, such as `Expect: 100-continue`. */
  readonly fields?: readonly string[]
  readonly body?: Body
  /** The framing of the body; `none` if `fields` contain it. */
  readonly framing?: 'length' | 'chunked' | 'none'
}

/** A body in one chunk. */
export const chunked = (body: Body): Uint8Array =>
  concat(`${toBytes(body).length.toString(16)}\r\n`, body, '\r\n0\r\n\r\n')

/** The bytes of a request. Parts that are not given are valid; each character of the head is one byte. */
export function request(parts: RequestParts): Uint8Array {
  const { line = 'POST /plants HTTP/1.1', host = 'localhost', authorization = bearer } = parts
  const { type = 'application/json', fields = [], body, framing = 'length' } = parts
  const hasBody = body !== undefined
  const head = [
    line,
    ...(host === null ? [] : [`Host: ${host}`]),
    ...(authorization === null ? [] : [`Authorization: ${authorization}`]),
    ...(hasBody && type !== null ? [`Content-Type: ${type}`] : []),
    ...(hasBody && framing === 'length' ? [`Content-Length: ${toBytes(body).length}`] : []),
    ...(hasBody && framing === 'chunked' ? ['Transfer-Encoding: chunked'] : []),
    ...fields,
  ].join('\r\n')
  const sent = framing === 'chunked' && hasBody ? chunked(body) : (body ?? '')
  return concat(latin1(`${head}\r\n\r\n`), sent)
}

/** A request without a body. */
export const bare = (line: string, parts: RequestParts = {}): Uint8Array =>
  request({ line: `${line} HTTP/1.1`, ...parts })

/** The answer to a create. */
const created = ([, name, tag]: Row): Expected => [200, JSON.stringify({ name, tag })]

/** The outcome of a create: an error number, or the plant stored. */
export type Outcome = number | Row

/** A case of one create. */
export function create(name: string, outcome: Outcome, parts: RequestParts): Case {
  const bytes = request(parts)
  if (typeof outcome === 'number') return { name, bytes, answers: [outcome] }
  return { name, bytes, answers: [created(outcome)], stores: [outcome] }
}

/** The rows of the store after a case, in ascending order of the ids. */
export const rowsAfter = ({ stores = [], replaces }: Case): readonly Row[] =>
  [...(replaces ?? [fixture]), ...stores].sort((a, b) => (BigInt(a[0]) < BigInt(b[0]) ? -1 : 1))
