// The errors of the service: refusals of requests.

/**
 * Each error of the service, by its name: its number, which is the HTTP status times 100 plus a count, and its default
 * message, which any client may see. A number is never reused and never changes its meaning.
 */
export const ERRORS = {
  'not JSON': { number: 40001, message: 'the body is not valid JSON in UTF-8' },
  invalid: { number: 40002, message: 'a field or parameter is invalid' },
  'no credentials': {
    number: 40101,
    message: 'no credentials; send the header "Authorization: Bearer TOKEN"',
  },
  'invalid token': { number: 40102, message: 'the token is unknown, expired or revoked' },
  'read-only token': { number: 40301, message: 'this token is read-only; use a write token' },
  'read-only service': {
    number: 40302,
    message: 'this plantstore is read-only; send changes to the primary',
  },
  'no such path': { number: 40401, message: 'no such path; see GET /openapi.json' },
  'no such plant': { number: 40402, message: 'no plant has this id' },
  'no change log': {
    number: 40403,
    message:
      'no change log is kept; start the daemon with --keep-changes, such as --keep-changes 30d',
  },
  'method not allowed': { number: 40501, message: 'method not allowed' },
  'stored already': {
    number: 40901,
    message:
      'this plant is already stored, with the same fields; an earlier attempt may have succeeded',
  },
  taken: { number: 40902, message: 'this id belongs to a different plant' },
  'cursor expired': {
    number: 41001,
    message: 'this cursor has expired; list the plants again, then follow from now on',
  },
  'precondition failed': {
    number: 41201,
    message: 'the plant does not meet If-Match or If-None-Match; read it again',
  },
  'too large': { number: 41301, message: 'the body is too large' },
  'unsupported type': {
    number: 41501,
    message:
      'send the body as "Content-Type: application/json", in UTF-8, without Content-Encoding',
  },
  'too many requests': {
    number: 42901,
    message: 'too many requests with this token; retry shortly',
  },
  unexpected: { number: 50001, message: 'unexpected error; the server log has the details' },
  busy: {
    number: 50301,
    message: 'busy: the write queue is full or the database is locked; retry shortly',
  },
  'storage failed': { number: 50302, message: 'cannot write to the database; nothing was stored' },
  'disk full': { number: 50701, message: 'disk full; nothing was stored' },
} as const satisfies Record<string, { readonly number: number; readonly message: string }>

export type ErrorName = keyof typeof ERRORS

/** The message of `storage failed` for a read. */
export const CANNOT_READ = 'cannot read from the database'

/** A refused request: the name of the error, and a message that any client may see. */
export class RequestError extends Error {
  override readonly name = 'RequestError'
  /** Headers of the response, besides those of every response with this error. */
  readonly headers: Readonly<Record<string, string>>

  constructor(
    readonly error: ErrorName,
    message: string = ERRORS[error].message,
    { headers = {}, ...options }: ErrorOptions & Partial<Pick<RequestError, 'headers'>> = {},
  ) {
    super(message, options)
    this.headers = headers
  }
}

/**
 * A change that may or may not be stored. Its client gets no response: an error would mean that nothing was stored. The
 * message is for the log.
 */
export class InDoubtError extends Error {
  override readonly name = 'InDoubtError'
}

/** The refusal of a request whose client disconnected before its turn. */
export const clientGone = (): RequestError => new RequestError('busy', 'the client disconnected')
