// Reasons to end a command, or not to start the daemon; and the code and message of whatever was thrown.

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

/** The error of an unreadable file named by the user. */
export const inputError = (error: unknown, file: string): OpenError =>
  new OpenError(`cannot read ${file}: ${reasonOf(error)}`, codeOf(error) === 'EIO')

/** The fate of unanswered requests if the database was not closed. */
export const IN_DOUBT = 'requests that were not answered may or may not be stored'

// Codes of a disk that is full or failing. Not SQLite's read errors: they are about the file being read.
const DISK = /^(EIO|ENOSPC|EDQUOT|SQLITE_FULL|SQLITE_IOERR(?!_READ|_SHORT_READ))/

// Codes of any error of the system, such as ENOENT.
const SYSTEM = /^E[A-Z\d]+$/

/**
 * The error of a file that cannot be written: an `OpenError` if the disk is full or failing, or the system refuses it;
 * else the error itself.
 */
export function writeError(error: unknown, path: string): unknown {
  const code = codeOf(error)
  const isDisk = DISK.test(code)
  if (!isDisk && (error instanceof OpenError || !SYSTEM.test(code))) return error
  return new OpenError(`cannot write ${path}: ${reasonOf(error)}`, isDisk)
}

/** The code of an error of the system or of SQLite; empty if there is none. */
export function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code
  // The code of a DOMException is a number.
  return typeof code === 'string' ? code : ''
}

/** The message of any thrown value. */
export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or folder',
  ENOTDIR: 'not a folder',
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
