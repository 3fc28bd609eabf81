import { TOKEN } from '../harness/daemon'

/** A plant that is in the store after a case: its id, its name and, if there is one, its tag. */
export type Row = readonly [id: bigint | number, name: string, tag?: string]

/**
 * What comes back, as a number.
 *
 * - Five digits: an Error with this number, and the status that belongs to it.
 * - 2xx: a success; with a text, exactly this body.
 * - 100: the interim answer to `Expect: 100-continue`.
 * - 4xx and 5xx: what Bun's own parser refuses before the daemon sees it. It has no body; the connection is closed.
 */
export type Expected = number | readonly [status: number, body: string]

export type Case = {
  /** A sentence. */
  readonly name: string
  readonly bytes: Uint8Array
  readonly answers: readonly Expected[]
  /** The method of the request, where an answer has no body because of it. */
  readonly method?: 'HEAD'
  /**
   * What becomes of the connection: the next request on it is answered (`open`, if not given), the daemon closes it,
   * or the daemon waits for the rest of the request.
   */
  readonly after?: 'open' | 'closed' | 'waiting'
  /** Whether the client ends its side of the connection behind the bytes. */
  readonly isCut?: true
  /** The plants beside the {@link fixture}, if not none. */
  readonly stores?: readonly Row[]
  /** Whether the daemon may close without an answer: then it has stored these plants, or has not. */
  readonly isUnknown?: true
  /** The plants that are there instead of the fixture. */
  readonly replaces?: readonly Row[]
}

/** The plant that is in the store before each case. */
export const fixture: Row = [1, 'Fern', 'green']

/** Tokens that a case may use: the test puts in those that it made. All are as long, so that nothing moves. */
export const tokens = {
  read: `test_read_${'r'.repeat(37)}`,
  expired: `test_expired_${'e'.repeat(34)}`,
  revoked: `test_revoked_${'v'.repeat(34)}`,
} as const

export const bearer = `Bearer ${TOKEN}`

export type Body = string | Uint8Array

/** The bytes of a text in UTF-8, or the bytes themselves. */
export const toBytes = (body: Body): Uint8Array =>
  typeof body === 'string' ? new TextEncoder().encode(body) : body

/** The bytes of a text whose characters are bytes. */
export const latin1 = (text: string): Uint8Array => Buffer.from(text, 'latin1')

export const concat = (...parts: readonly Body[]): Uint8Array =>
  Buffer.concat(parts.map((part) => toBytes(part)))

export type RequestParts = {
  readonly line?: string
  readonly host?: string | null
  readonly authorization?: string | null
  readonly type?: string | null
  /** Lines that follow, such as `Expect: 100-continue`. */
  readonly fields?: readonly string[]
  readonly body?: Body
  /** How the length of the body is told; `none` where `fields` tell it. */
  readonly framing?: 'length' | 'chunked' | 'none'
}

/** A body in one chunk. */
export const chunked = (body: Body): Uint8Array =>
  concat(`${toBytes(body).length.toString(16)}\r\n`, body, '\r\n0\r\n\r\n')

/** The bytes of a request: all that is not given is as it should be. The characters of its head are bytes. */
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

/** What a create answers. */
export const created = ([, name, tag]: Row): Expected => [200, JSON.stringify({ name, tag })]

/** Where a create ends: an error number, or the plant that it stores. */
export type Outcome = number | Row

/** A case of one create: its outcome is all that is to be seen. */
export function create(name: string, outcome: Outcome, parts: RequestParts): Case {
  const bytes = request(parts)
  if (typeof outcome === 'number') return { name, bytes, answers: [outcome] }
  return { name, bytes, answers: [created(outcome)], stores: [outcome] }
}

/** Cases of creates that differ in their bodies alone. */
export const bodies = (rows: readonly (readonly [string, Body, Outcome])[]): Case[] =>
  rows.map(([name, body, outcome]) => create(name, outcome, { body }))

/** What the store holds after a case, in ascending order of the ids. */
export const rowsAfter = ({ stores = [], replaces }: Case): readonly Row[] =>
  [...(replaces ?? [fixture]), ...stores].sort((a, b) => (BigInt(a[0]) < BigInt(b[0]) ? -1 : 1))
