// Errors of SQLite and of the system: as failures of a write, and as messages for clients and users.

import { unlinkSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { codeOf, messageOf, OpenError, reasonOf } from '../../errors'
import { openDescriptor } from '../../files/descriptor'
import { RequestError } from '../../request-errors'

/**
 * A failed write. `full`: the disk is full. `busy`: another program locks the database. `damaged`: a page is damaged or
 * cannot be read. `altered`: another program has changed the schema. `moved`: the database or its log is no longer where
 * it was opened. `refused`: for another reason. In all of these nothing was stored, unless a file was moved meanwhile.
 * `stalled`: a commit waits for the disk. `fatal`: the disk has failed, and nothing is known of what it has stored.
 */
export type Failure = {
  readonly kind: 'full' | 'busy' | 'damaged' | 'altered' | 'moved' | 'refused' | 'stalled' | 'fatal'
  readonly detail: string
}

// An unreadable page counts as damaged: the others may be intact.
const DAMAGED = /^SQLITE_(CORRUPT|NOTADB|IOERR_READ|IOERR_SHORT_READ)/
const KINDS: readonly (readonly [RegExp, Failure['kind']])[] = [
  [/^(ENOSPC|EDQUOT|SQLITE_(FULL|IOERR_SHMSIZE))/, 'full'],
  [/^SQLITE_BUSY/, 'busy'],
  [DAMAGED, 'damaged'],
  [/^SQLITE_IOERR(?!_NOMEM)/, 'fatal'],
]

function kindOf(error: unknown): Failure['kind'] {
  // Of `guardSchema`.
  if (error instanceof OpenError) return 'altered'
  return KINDS.find(([pattern]) => pattern.test(codeOf(error)))?.[1] ?? 'refused'
}

const TRIAL_BYTES = 64 * 1024

/** True if a small file beside a database does not fit: SQLite does not tell. */
function isDiskFull(path: string): boolean {
  const trial = `${path}.${crypto.randomUUID()}`
  try {
    using file = openDescriptor(trial, 'wx', 0o600)
    unlinkSync(trial)
    // At a place, as SQLite writes.
    writeSync(file.fd, crypto.getRandomValues(new Uint8Array(TRIAL_BYTES)), 0, TRIAL_BYTES, 0)
    return false
  } catch (error) {
    return kindOf(error) === 'full'
  }
}

/**
 * Converts an error of a write to a database. A quota that is exceeded is an I/O error to SQLite, but only the disk's
 * refusal: the frame that ends a transaction was not written. `isCommit`: of a COMMIT or a checkpoint; unless the disk is
 * full or locked, nothing is known of it.
 */
export function toFailure(error: unknown, path: string, isCommit = false): Failure {
  const isQuota = codeOf(error) === 'SQLITE_IOERR_WRITE' && isDiskFull(path)
  const kind = isQuota ? 'full' : kindOf(error)
  const isKnown = !isCommit || kind === 'full' || kind === 'busy'
  return { kind: isKnown ? kind : 'fatal', detail: `${codeOf(error)} ${messageOf(error)}`.trim() }
}

export const DAMAGED_PAGE = 'a page of the database is damaged or cannot be read'

/**
 * The error of a failed write: for clients of a daemon, whose log has the detail; or for the user of a command, and
 * whether its last changes are in doubt.
 */
export function toError(
  { kind, detail }: Failure,
  command?: { readonly isInDoubt: boolean },
): RequestError {
  if (kind === 'full') return new RequestError('disk full', command && 'disk full')
  if (kind === 'busy') return new RequestError('busy', 'the database is locked by another program')
  if (command) {
    const doubt = command.isInDoubt
      ? '; the last changes may or may not be on disk: run it again'
      : ''
    return new RequestError('storage failed', `cannot write to the database: ${detail}${doubt}`)
  }
  if (kind === 'damaged') return new RequestError('storage failed', DAMAGED_PAGE)
  if (kind === 'stalled') return new RequestError('storage failed', detail)
  return new RequestError(
    'storage failed',
    kind === 'refused' ? undefined : `nothing was stored: ${detail}`,
  )
}

/** The error of a database that another program keeps locked. */
export const lockedByAnother = (path: string): OpenError =>
  new OpenError(`${path} is locked by another program`)

const DENIED = /^(EACCES|EPERM|EROFS|SQLITE_(READONLY(_DIRECTORY)?|CANTOPEN))$/

/** The reason that a database could not be opened, by default for writing. */
export function explainFailedOpen(
  error: unknown,
  path: string,
  access: 'read' | 'write' = 'write',
): OpenError {
  if (error instanceof OpenError) return error
  const code = codeOf(error)
  const kind = kindOf(error)
  if (kind === 'full' || (code === 'SQLITE_CANTOPEN' && access === 'write' && isDiskFull(path)))
    return new OpenError(`cannot write ${path}: disk full, or out of inodes`, true)
  if (DENIED.test(code)) {
    return new OpenError(
      `cannot ${access} ${path}: user ${process.getuid?.()} needs access to it, to its -wal and to its folder; check permissions, ReadWritePaths= and "ulimit -n"`,
    )
  }
  if (kind === 'busy') return lockedByAnother(path)
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return new OpenError(
      `folder ${dirname(path)} does not exist; create it, or name another file with --database`,
    )
  }
  if (isDamage(error) && !code.startsWith('SQLITE_IOERR')) {
    return new OpenError(
      `${path} is damaged (${messageOf(error)}); restore a backup with "plantstore restore"`,
      true,
    )
  }
  return new OpenError(`cannot open ${path}: ${reasonOf(error)}`, true)
}

/** True also for a stored value that cannot be decoded, such as the JSON of an entry of the change log. */
export const isDamage = (error: unknown): boolean =>
  DAMAGED.test(codeOf(error)) || error instanceof SyntaxError || error instanceof RangeError
