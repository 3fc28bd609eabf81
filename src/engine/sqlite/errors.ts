// Errors of SQLite and of the system: as failures of a write, and as messages for clients and users.

import {
  accessSync,
  closeSync,
  constants,
  openSync,
  rmSync,
  type Stats,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { codeOf, inputError, messageOf, OpenError, RequestError, reasonOf } from '../../errors'
import { noFreeInodes, targetOf } from '../../files/resolve-path'

/**
 * A failed write. `full`: the disk is full. `busy`: another program locks the database. `damaged`: a page is damaged or
 * cannot be read. `altered`: another program has changed the schema so that writes may be discarded or altered.
 * `moved`: the database or its log is no longer where it was opened. `refused`: for another reason. In all of these
 * nothing was stored. `in doubt`: moved while a commit was made, which may come back with the file. `fatal`: the disk has
 * failed, and nothing is known of what it has stored.
 */
export type Failure = {
  readonly kind:
    | 'full'
    | 'busy'
    | 'damaged'
    | 'altered'
    | 'moved'
    | 'refused'
    | 'in doubt'
    | 'fatal'
  readonly detail: string
}

/** Another program has altered the schema, so nothing is written. */
export class AlteredSchema extends Error {
  override readonly name = 'AlteredSchema'
}

/** The database or its log was moved, replaced or deleted, so nothing is written. */
export class FileMoved extends Error {
  override readonly name = 'FileMoved'
}

// An unreadable page counts as damaged: the others may be intact.
const DAMAGED = /^SQLITE_(CORRUPT|NOTADB|IOERR_READ|IOERR_SHORT_READ)/
const KINDS: readonly (readonly [RegExp, Failure['kind']])[] = [
  [/^(ENOSPC|EDQUOT|SQLITE_FULL|SQLITE_IOERR_SHMSIZE)/, 'full'],
  [/^SQLITE_BUSY/, 'busy'],
  [DAMAGED, 'damaged'],
  [/^SQLITE_IOERR(?!_NOMEM)/, 'fatal'],
]

function kindOf(error: unknown): Failure['kind'] {
  if (error instanceof AlteredSchema) return 'altered'
  if (error instanceof FileMoved) return 'moved'
  return KINDS.find(([pattern]) => pattern.test(codeOf(error)))?.[1] ?? 'refused'
}

/**
 * Converts an error of a write to a database. A quota that is exceeded is an I/O error to SQLite, but only the disk's
 * refusal: the frame that ends a transaction was not written.
 */
export function toFailure(error: unknown, path: string): Failure {
  const isQuota = codeOf(error) === 'SQLITE_IOERR_WRITE' && spaceError(path) !== null
  const detail = `${codeOf(error)} ${messageOf(error)}`.trim()
  return { kind: isQuota ? 'full' : kindOf(error), detail }
}

/** Converts an error of a COMMIT or a checkpoint: unless the disk is full or locked, nothing is known of it. */
export function toCommitFailure(error: unknown, path: string): Failure {
  const { kind, detail } = toFailure(error, path)
  return { kind: kind === 'full' || kind === 'busy' ? kind : 'fatal', detail }
}

export const LOCKED = 'the database is locked by another program'
export const DAMAGED_PAGE = 'the database is damaged'

/** The error of a failed write: for clients of a daemon, whose log has the detail, or for the user of a command. */
export function toError({ kind, detail }: Failure, isCommand = false): RequestError {
  if (kind === 'full') return new RequestError('disk full', isCommand ? 'disk full' : undefined)
  if (kind === 'busy') return new RequestError('busy', LOCKED)
  const reason = kind === 'damaged' ? DAMAGED_PAGE : 'cannot write to the database'
  if (isCommand) return new RequestError('storage failed', `${reason}: ${detail}`)
  if (kind === 'damaged') return new RequestError('storage failed', DAMAGED_PAGE)
  const isTold = kind === 'altered' || kind === 'moved'
  return new RequestError('storage failed', isTold ? `nothing was stored: ${detail}` : undefined)
}

function statOf(file: string): Stats | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

/** An error for the first existing file that this user may not read or write; undefined if there is none. */
export function accessError(
  files: readonly string[],
  access: 'read' | 'write',
): OpenError | undefined {
  for (const file of files) {
    try {
      accessSync(file, access === 'read' ? constants.R_OK : constants.W_OK)
    } catch (error) {
      const stat = codeOf(error) === 'EACCES' && statOf(file)
      if (!stat) continue
      const mode = (stat.mode & 0o777).toString(8).padStart(4, '0')
      return new OpenError(
        `cannot ${access} ${file} (owner ${stat.uid}, mode ${mode}): user ${process.getuid?.()} needs access to it and its folder`,
      )
    }
  }
  return undefined
}

export const lockedByAnother = (path: string): OpenError =>
  new OpenError(`${path} is locked by another program`)

const TRIAL_BYTES = 64 * 1024

/** The error of a small file beside a database, if the disk is full or a quota exceeded: SQLite does not tell. */
function spaceError(path: string): unknown {
  const trial = `${path}.${crypto.randomUUID()}`
  let fd: number | undefined
  try {
    fd = openSync(trial, 'wx', 0o600)
    writeSync(fd, crypto.getRandomValues(new Uint8Array(TRIAL_BYTES)), 0, TRIAL_BYTES, 0)
    return null
  } catch (error) {
    return kindOf(error) === 'full' ? error : null
  } finally {
    if (fd !== undefined) closeSync(fd)
    rmSync(trial, { force: true })
  }
}

const noFolder = (folder: string): OpenError =>
  new OpenError(`folder ${folder} does not exist; create it, or name another file with --database`)

/** The error for a file, a folder or a file system that this user may not write, or read. */
function denied(error: unknown, path: string, access: 'read' | 'write'): OpenError {
  const files = ['', '-journal', '-wal', '-shm'].map((suffix) => path + suffix)
  const refusal = accessError([...files, dirname(path)], access)
  if (refusal) return refusal
  if (codeOf(error) === 'SQLITE_CANTOPEN') {
    return new OpenError(
      `cannot open ${path} and its write-ahead log: the file system is read-only, or too few files may be open (ulimit -n)`,
    )
  }
  return access === 'read'
    ? inputError(error, path)
    : new OpenError(`cannot write ${path}: it is read-only; name another file with --database`)
}

const DENIED = /^(EACCES|EPERM|EROFS|SQLITE_READONLY(_DIRECTORY)?|SQLITE_CANTOPEN)$/

/** The reason that a database could not be opened, by default for writing. */
export function explainFailedOpen(
  error: unknown,
  path: string,
  access: 'read' | 'write' = 'write',
): OpenError {
  if (error instanceof OpenError) return error
  const code = codeOf(error)
  const isFull = kindOf(error) === 'full' || (code === 'SQLITE_CANTOPEN' && spaceError(path))
  if (isFull) {
    const full = new OpenError(`cannot write ${path}: disk full, or out of inodes`, true)
    return noFreeInodes(path) ?? full
  }
  if (DENIED.test(code)) return denied(error, path, access)
  if (kindOf(error) === 'busy') return lockedByAnother(path)
  switch (code) {
    case 'ENOENT':
      return noFolder(dirname(targetOf(path)))
    case 'ENOTDIR':
      return noFolder(dirname(path))
    case 'EISDIR':
      return new OpenError(`${path} is a folder; name a file with --database`)
    case 'SQLITE_READONLY_DBMOVED':
      return new OpenError(`${path} was just replaced; try again`)
    case 'SQLITE_NOTADB':
      return new OpenError(`${path} is not a plantstore database; name another with --database`)
    case 'SQLITE_CORRUPT':
      return new OpenError(`${path} is damaged; restore a backup with "plantstore restore"`, true)
  }
  const isStorage = code !== 'ELOOP' && code !== 'ENAMETOOLONG'
  return new OpenError(`cannot open ${path}: ${reasonOf(error)}`, isStorage)
}

/** True also for a stored value that cannot be decoded, such as the JSON of an entry of the change log. */
export const isDamage = (error: unknown): boolean =>
  DAMAGED.test(codeOf(error)) || error instanceof SyntaxError || error instanceof RangeError

// SQLite opens a file and its sidecars only at the first query.
const UNOPENED = /^SQLITE_(CANTOPEN|READONLY)/

/** The reason that a database could not be read, as an `OpenError`; any other error is returned unchanged. */
export function explainFailedRead(error: unknown, path: string): unknown {
  if (!(error instanceof Error)) return error
  if (kindOf(error) === 'busy') return lockedByAnother(path)
  if (UNOPENED.test(codeOf(error))) return new OpenError(`cannot read ${path}: ${error.message}`)
  if (!isDamage(error)) return error
  return new OpenError(`${path} is damaged: ${error.message}`, true)
}
