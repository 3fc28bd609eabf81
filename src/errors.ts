/**
 * Every error number that the service answers, and its message where the occasion has none of its own.
 *
 * A number is the HTTP status times 100 plus a count. A number is never reused and never changes its meaning.
 */
export const catalogue = {
  40001: 'the body is not JSON in UTF-8',
  40002: 'the request does not match what was expected',
  40101: 'credentials are missing: send the header "Authorization: Bearer <token>"',
  40102: 'the token is unknown, expired or revoked',
  40301: 'the scope of the token does not allow this',
  40401: 'there is no such path',
  40402: 'there is no plant with this id',
  40501: 'the path does not have this method',
  40901:
    'a plant with this id exists, with the same fields: an earlier try of this request was stored',
  40902: 'a plant with this id exists, with other fields',
  41301: 'the body is too large',
  41501:
    'the body must be sent as "Content-Type: application/json", in UTF-8, without Content-Encoding',
  50001: 'an unexpected error; it has been logged',
  50301: 'overloaded: too much waits, or another process writes to the database; try again shortly',
  50302: 'the storage fails; nothing was stored',
  50701: 'the disk is full; nothing was stored',
} as const

/** A number of the {@link catalogue}. */
export type ErrorNumber = keyof typeof catalogue

/** The refusal of a request: a number of the catalogue, and a message that is safe to show to any client. */
export class PlantError extends Error {
  override readonly name = 'PlantError'

  constructor(
    readonly error: ErrorNumber,
    message: string = catalogue[error],
    options?: ErrorOptions,
  ) {
    super(message, options)
  }

  /** The HTTP status (RFC 9110, section 15). */
  get status(): number {
    return Math.floor(this.error / 100)
  }
}

/** Why a store or a server cannot be opened, in one line that names the fix. */
export class OpenError extends Error {
  override readonly name = 'OpenError'

  /** `storage`: the medium or the file's content fails, not what was asked for. */
  constructor(
    message: string,
    readonly storage = false,
  ) {
    super(message)
  }
}

/** A mistake in the way that the program was called: one line for the user, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The code of an error of the system or of SQLite; empty where it has none. */
export const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException)?.code ?? ''

// A disk that is full or fails, as the system or SQLite tells of it; what SQLite cannot read is another file.
const DISK = /^(EIO|ENOSPC|EDQUOT|SQLITE_FULL|SQLITE_IOERR(?!_READ|_SHORT_READ))/

/** Why a file could not be written, of what was thrown: the error itself, where it is not the disk's. */
export function explainWriting(error: unknown, path: string): unknown {
  if (!(error instanceof Error && DISK.test(codeOf(error)))) return error
  // Without the system's call, whose path is often a temporary one.
  const reason = error.message.replace(/, \w+( '.*')?$/, '')
  return new OpenError(`${path} cannot be written: ${reason}`, true)
}
