// The errors of the program: refusals of requests, and reasons to end a command.

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
  /** Headers of the answer, besides those of every answer with this error. */
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
 * A change that may or may not be stored, which nobody will ever know. Its client gets no answer: an error would mean
 * that nothing was stored. The message is for the log.
 */
export class InDoubtError extends Error {
  override readonly name = 'InDoubtError'
}

/** The refusal of a request whose client disconnected before its turn. */
export const clientGone = (): RequestError => new RequestError('busy', 'the client disconnected')

/** An error of a database, a server or a file that cannot be used: the reason and the fix, in one line. */
export class OpenError extends Error {
  override readonly name = 'OpenError'

  /** `storage`: true if the disk or the file's content is at fault, not the command. */
  constructor(
    message: string,
    readonly storage = false,
  ) {
    super(message)
  }
}

/** Wrong usage of the program: one line for the user, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The code of an error of the system or of SQLite; empty if there is none. */
export function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code
  // The code of a DOMException is a number.
  return typeof code === 'string' ? code : ''
}

// OpenSSL's codes, as Bun names them.
const UNTRUSTED = /^UNABLE_TO_|SELF_SIGNED_CERT|^CERT_UNTRUSTED$/

/** True for an error of a certificate that no trusted CA has signed. */
export const isUntrusted = (error: unknown): boolean => UNTRUSTED.test(codeOf(error))

/** The message of any thrown value. */
export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)

// A URL within a text, up to a space or a quote.
const URL_IN_TEXT = /[a-z][a-z\d+.-]{0,20}:\/\/[^\s"]+/gi
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are removed.
const CONTROLS = /[\x00-\x1f\x7f-\x9f]+/g
// Shorter secrets occur in any text.
const MIN_SECRET_LENGTH = 3

/** A text with each URL reduced to scheme and host, as the rest may be secret. */
export const cutUrls = (text: string): string =>
  text.replace(URL_IN_TEXT, (url) => {
    const { protocol = url.slice(0, url.indexOf(':') + 1), host = '' } = URL.parse(url) ?? {}
    return `${protocol}//${host || '…'}`
  })

const isOwn = (error: unknown): boolean =>
  [RequestError, OpenError, UsageError].some((kind) => error instanceof kind)

/**
 * The message of an error, for users and logs. The program's own errors are unchanged; those of the runtime or of a
 * server become one line, without these secrets, and with URLs reduced.
 */
export function safeMessage(error: unknown, secrets: readonly string[] = []): string {
  if (isOwn(error)) return messageOf(error)
  const redaction = secrets
    .filter(({ length }) => length >= MIN_SECRET_LENGTH)
    .sort((a, b) => b.length - a.length)
    .reduce((text, secret) => text.replaceAll(secret, '…'), messageOf(error))
  return cutUrls(redaction).replace(CONTROLS, ' ')
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  ENOTDIR: 'no such file',
  EACCES: 'permission denied',
  EISDIR: 'is a folder',
  EIO: 'input/output error',
  ELOOP: 'too many links',
  ENAMETOOLONG: 'the name is too long',
  ENOSPC: 'disk full',
  EDQUOT: 'disk quota exceeded',
  EROFS: 'read-only file system',
  SQLITE_FULL: 'disk full',
}

/** The reason of an error of the system or of SQLite, without its code, its system call and the path. */
export const reasonOf = (error: unknown): string =>
  REASONS[codeOf(error)] ?? messageOf(error).replace(/^E[A-Z\d]+: |, \w+( '.*')?$/g, '')

/** The error of an unreadable file named by the user. */
export const inputError = (error: unknown, file: string): OpenError =>
  new OpenError(`cannot read ${file}: ${reasonOf(error)}`, codeOf(error) === 'EIO')

/** The fate of unanswered requests if the database was not closed. */
export const IN_DOUBT = 'requests that were not answered may or may not be stored'

// Codes of a disk that is full or failing. Not SQLite's read errors: they are about the file being read.
const DISK = /^(EIO|ENOSPC|EDQUOT|SQLITE_FULL|SQLITE_IOERR(?!_READ|_SHORT_READ))/

/** The error of a file that cannot be written: an `OpenError` if the disk is full or failing, else the error itself. */
export function writeError(error: unknown, path: string): unknown {
  return DISK.test(codeOf(error))
    ? new OpenError(`cannot write ${path}: ${reasonOf(error)}`, true)
    : error
}
