import { dirname } from 'node:path'
import { codeOf, OpenError } from '../../errors'
import { isOutOfInodes } from '../../files/target'

/** Why a path could not be opened, of what the system or SQLite threw. */
export function explain(error: unknown, path: string): OpenError {
  if (/^(ENOSPC|SQLITE_CANTOPEN)/.test(codeOf(error)) && isOutOfInodes(dirname(path))) {
    return new OpenError(`${path} cannot be opened: no free inodes in its file system`, true)
  }
  switch (codeOf(error)) {
    case 'ENOENT':
    case 'ENOTDIR':
      return new OpenError(
        `the folder ${dirname(path)} does not exist: make it, or name another with --database`,
      )
    case 'EISDIR':
      return new OpenError(`${path} is a folder: name a file with --database`)
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
    case 'SQLITE_READONLY':
    case 'SQLITE_READONLY_DIRECTORY':
    case 'SQLITE_READONLY_DBMOVED':
      return new OpenError(
        `${path} or its folder cannot be written: give this user the right to, or name another with --database`,
      )
    case 'SQLITE_CANTOPEN':
      return new OpenError(
        `${path} cannot be opened: its folder must be writable, for the files beside it too`,
      )
    case 'SQLITE_NOTADB':
      return new OpenError(`${path} is not a plantstore database: name another with --database`)
    case 'SQLITE_CORRUPT':
      return new OpenError(`${path} is damaged: put back a backup with "plantstore restore"`, true)
    case 'SQLITE_BUSY':
      return new OpenError(`${path} is in use by another program that does not let go of it`)
    default:
      return new OpenError(
        `${path} cannot be opened: ${error instanceof Error ? error.message : error}`,
        true,
      )
  }
}

// A page of a database that is damaged or cannot be read.
const UNREADABLE = /^SQLITE_(CORRUPT|NOTADB|IOERR_READ|IOERR_SHORT_READ)/
// SQLite opens a file at the first query: a reader too writes beside it.
const UNOPENED = /^SQLITE_(BUSY|CANTOPEN|READONLY)/

/** Why a database could not be read, of what SQLite threw: the error itself, where it is of another kind. */
export function explainReading(error: unknown, path: string): unknown {
  if (!(error instanceof Error)) return error
  if (UNOPENED.test(codeOf(error))) return explain(error, path)
  if (!UNREADABLE.test(codeOf(error))) return error
  return new OpenError(`${path} is damaged: ${error.message}`, true)
}
