// Maps errors of SQLite and the system to failures of a batch, and to messages for clients and users.

import { SQLiteError } from 'bun:sqlite'
import { accessSync, closeSync, constants, openSync, rmSync, type Stats, statSync } from 'node:fs'
import { dirname } from 'node:path'
import {
  codeOf,
  type ErrorName,
  inputError,
  messageOf,
  OpenError,
  RequestError,
  reasonOf,
} from '../../../errors'
import { noFreeInodes, targetOf } from '../../../files/resolve-path'
import type { StorageFailure } from '../../storage-state'
import { filesOf } from './sidecars'

/** Another program has altered the schema, so nothing is written. */
export class AlteredSchema extends Error {
  override readonly name = 'AlteredSchema'
}

/** Converts an error of SQLite to the failure of a batch. */
export function toFailure(error: unknown): StorageFailure {
  if (error instanceof AlteredSchema) return { kind: 'altered', detail: error.message }
  const code = error instanceof SQLiteError ? (error.code ?? '') : ''
  const detail = `${code} ${messageOf(error)}`.trim()
  if (code.startsWith('SQLITE_FULL')) return { kind: 'full', detail }
  if (code.startsWith('SQLITE_BUSY')) return { kind: 'busy', detail }
  if (/^SQLITE_(CORRUPT|NOTADB)/.test(code)) return { kind: 'damaged', detail }
  return { kind: 'failed', detail }
}

/** Converts an error of a read: an unreadable page or value counts as damage, because the others may be intact. */
export function toReadFailure(error: unknown): StorageFailure {
  const failure = toFailure(error)
  return isDamage(error) ? { ...failure, kind: 'damaged' } : failure
}

const ERROR_NAMES: Readonly<Record<StorageFailure['kind'], ErrorName>> = {
  full: 'disk full',
  busy: 'busy',
  failed: 'cannot write',
  altered: 'cannot write',
  barred: 'cannot write',
  damaged: 'cannot write',
}

export const LOCKED = 'the database is locked by another program'
export const DAMAGED_PAGE = 'the database is damaged'

/** The error for clients of a daemon. */
export const toClientError = ({ kind, detail }: StorageFailure): RequestError =>
  new RequestError(ERROR_NAMES[kind], messageFor(kind, detail))

function messageFor(kind: StorageFailure['kind'], detail: string): string | undefined {
  if (kind === 'altered') return `nothing was stored: ${detail}`
  if (kind === 'busy') return LOCKED
  return kind === 'damaged' ? DAMAGED_PAGE : undefined
}

const REASONS: Readonly<Record<StorageFailure['kind'], string>> = {
  full: 'disk full',
  busy: LOCKED,
  failed: 'cannot write to the database',
  altered: 'cannot write to the database',
  barred: 'no plant can be created',
  damaged: DAMAGED_PAGE,
}

/** The error for the user of a command, who sees no log. */
export const toCommandError = ({ kind, detail }: StorageFailure): RequestError =>
  new RequestError(
    ERROR_NAMES[kind],
    kind === 'full' || kind === 'busy' ? REASONS[kind] : `${REASONS[kind]}: ${detail}`,
  )

/** An error for the first existing file that this user may not read or write; undefined if there is none. */
export function accessError(
  files: readonly string[],
  access: 'read' | 'write',
): OpenError | undefined {
  for (const file of files) {
    try {
      accessSync(file, access === 'read' ? constants.R_OK : constants.W_OK)
    } catch (error) {
      const stat = statOf(file)
      if (codeOf(error) !== 'EACCES' || !stat) continue
      const mode = (stat.mode & 0o777).toString(8).padStart(4, '0')
      return new OpenError(
        `cannot ${access} ${file} (owner ${stat.uid}, mode ${mode}): user ${process.getuid?.()} needs access to it and its folder`,
      )
    }
  }
  return undefined
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

export const lockedByAnother = (path: string): OpenError =>
  new OpenError(`${path} is locked by another program`)

const diskFull = (path: string): OpenError =>
  new OpenError(`cannot write ${path}: disk full, or out of inodes`, true)

// SQLite does not say why it cannot create a file, and XFS makes inodes of free space.
function noSpaceForFile(path: string): OpenError | null {
  const trial = `${path}.${crypto.randomUUID()}`
  try {
    closeSync(openSync(trial, 'wx', 0o600))
    rmSync(trial)
    return null
  } catch (error) {
    if (!['ENOSPC', 'EDQUOT'].includes(codeOf(error))) return null
    return noFreeInodes(path) ?? diskFull(path)
  }
}

const noFolder = (folder: string): OpenError =>
  new OpenError(`folder ${folder} does not exist; create it, or name another file with --database`)

/** The reason that a database could not be opened, by default for writing. */
export function explainFailedOpen(
  error: unknown,
  path: string,
  access: 'read' | 'write' = 'write',
): OpenError {
  if (error instanceof OpenError) return error
  switch (codeOf(error)) {
    case 'ENOENT':
      return noFolder(dirname(targetOf(path)))
    case 'ENOTDIR':
      return noFolder(dirname(path))
    case 'EISDIR':
      return new OpenError(`${path} is a folder; name a file with --database`)
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
    case 'SQLITE_READONLY':
    case 'SQLITE_READONLY_DIRECTORY':
      return (
        accessError([...filesOf(path), dirname(path)], access) ??
        (access === 'read'
          ? inputError(error, path)
          : new OpenError(
              `cannot write ${path}: it is read-only; name another file with --database`,
            ))
      )
    case 'SQLITE_CANTOPEN':
      return (
        noSpaceForFile(path) ??
        accessError([...filesOf(path), dirname(path)], 'write') ??
        new OpenError(
          `cannot open ${path} and its write-ahead log: the file system is read-only, or too few files may be open (ulimit -n)`,
        )
      )
    case 'ELOOP':
    case 'ENAMETOOLONG':
      return new OpenError(`cannot open ${path}: ${reasonOf(error)}`)
    case 'SQLITE_READONLY_DBMOVED':
      return new OpenError(`${path} was just replaced; try again`)
    case 'SQLITE_NOTADB':
      return new OpenError(`${path} is not a plantstore database; name another with --database`)
    case 'SQLITE_CORRUPT':
      return new OpenError(`${path} is damaged; restore a backup with "plantstore restore"`, true)
    case 'SQLITE_BUSY':
    case 'SQLITE_BUSY_RECOVERY':
    case 'SQLITE_BUSY_SNAPSHOT':
      return lockedByAnother(path)
    case 'ENOSPC':
      return noFreeInodes(path) ?? diskFull(path)
    case 'EDQUOT':
    case 'SQLITE_FULL':
    case 'SQLITE_IOERR_SHMSIZE':
      return diskFull(path)
    default:
      return new OpenError(`cannot open ${path}: ${reasonOf(error)}`, true)
  }
}

// Errors of a damaged or unreadable page.
const DAMAGED = /^SQLITE_(CORRUPT|NOTADB|IOERR_READ|IOERR_SHORT_READ)/

/** True also for a stored value that cannot be decoded, such as the JSON of an entry of the change log. */
const isDamage = (error: unknown): boolean =>
  DAMAGED.test(codeOf(error)) || error instanceof SyntaxError || error instanceof RangeError

// SQLite opens a file and its sidecars only at the first query.
const UNOPENED = /^SQLITE_(CANTOPEN|READONLY)/

/** The reason that a database could not be read, as an `OpenError`; any other error is returned unchanged. */
export function explainFailedRead(error: unknown, path: string): unknown {
  if (!(error instanceof Error)) return error
  if (codeOf(error).startsWith('SQLITE_BUSY')) return lockedByAnother(path)
  if (UNOPENED.test(codeOf(error))) return new OpenError(`cannot read ${path}: ${error.message}`)
  if (!isDamage(error)) return error
  return new OpenError(`${path} is damaged: ${error.message}`, true)
}
