// Reads a database as of one moment, without writing to it or beside it, in one of three states:
// - shared: in use, or left by a crash, with its WAL and the WAL's index. Read with `readonly_shm`, which leaves the
//   index unchanged.
// - closed: one file without a WAL. Read as `immutable`, and again if another process has written to it meanwhile.
// - split: a WAL without its index, or a rollback journal. Only a private copy can be recovered and read.

import { Database, type SQLQueryBindings, constants as sqlite } from 'bun:sqlite'
import { closeSync, existsSync, realpathSync, statSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { codeOf, OpenError } from '../../../errors'
import { prepareOrClose, setPragmas } from '../file/connection'
import { fileSize, openReadable } from '../file/database-file'
import { accessError, explainFailedRead } from '../file/errors'
import { requireKnown, schemaVersion } from '../file/migrations'
import { filesOf, holdSidecars, releaseSidecars, requireSidecars } from '../file/sidecars'

const TRIES = 5
const PAUSE_MS = 20
// 10 seconds, SQLite's timeout for a lock.
const TRIES_TO_HOLD = 500
// The WAL's index changed while it was read, and this connection may not repair it.
const UNSETTLED = 'SQLITE_READONLY_RECOVERY'
export const RECOVERY_SUFFIXES = ['-wal', '-journal'] as const

type State = 'shared' | 'closed' | 'split'

/** A database at one moment: its resolved path, a descriptor, and a connection if it is shared. */
type Moment = {
  readonly path: string
  readonly fd: number
  readonly state: State
  readonly sharedDb: Database | null
}

function stateOf(path: string): State {
  if (existsSync(`${path}-wal`) && existsSync(`${path}-shm`)) return 'shared'
  return RECOVERY_SUFFIXES.some((suffix) => fileSize(path + suffix) > 0) ? 'split' : 'closed'
}

// Differs after every write to a database or its WAL.
function fingerprint(path: string): string {
  const stats = filesOf(path).map((file) => {
    const stat = statSync(file, { bigint: true, throwIfNoEntry: false })
    return stat && [stat.dev, stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].join()
  })
  return stats.join(' ')
}

/** A connection with SQLite's URI parameters (https://sqlite.org/uri.html), which Bun's options lack. */
class UriDatabase extends Database {
  constructor(path: string, parameters: string) {
    const { SQLITE_OPEN_READONLY, SQLITE_OPEN_URI } = sqlite
    super(`${pathToFileURL(path).href}?${parameters}`, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI)
  }

  // Flags cannot ask for exact integers.
  override query<Row, Parameters extends SQLQueryBindings | SQLQueryBindings[]>(sql: string) {
    return super.query<Row, Parameters>(sql).safeIntegers(true)
  }
}

/** Opens a connection that begins to read, with URI parameters. */
export function openUri(path: string, parameters: string): Database {
  const db = new UriDatabase(path, parameters)
  return prepareOrClose(db, () => {
    setPragmas(db)
    db.run('BEGIN')
    // SQLite opens the file at the first read. Its header may be older than its WAL.
    requireKnown(schemaVersion(db), path)
    return db
  })
}

function openShared(path: string): Database {
  try {
    return openUri(path, 'mode=ro&readonly_shm=1')
  } catch (error) {
    // A reader that cannot write the index must find a free place in it (https://sqlite.org/walformat.html, 2.3.1).
    if (codeOf(error) !== 'SQLITE_READONLY_CANTINIT') throw error
    return openUri(path, 'mode=ro')
  }
}

async function openMoment(path: string, fd: number): Promise<Moment> {
  await requireSidecars(path, fd)
  // If the last connection is just closing, it copies its WAL, which then disappears.
  for (let tries = 1; !holdSidecars(fd) && tries < TRIES_TO_HOLD; tries++) await Bun.sleep(PAUSE_MS)
  try {
    const state = stateOf(path)
    return { path, fd, state, sharedDb: state === 'shared' ? openShared(path) : null }
  } finally {
    releaseSidecars(fd)
  }
}

/**
 * Lets `act` read a database as of one moment, and again if it was written to meanwhile without being shared. Closing a
 * descriptor drops SQLite's locks on the file, so the descriptor outlives the connection.
 */
export async function atOneMoment<T>(
  path: string,
  act: (moment: Moment) => Promise<T>,
): Promise<T> {
  if (existsSync(path)) {
    // SQLite would only report that it cannot open the file.
    const refusal = accessError(filesOf(realpathSync(path)), 'read')
    if (refusal) throw refusal
  }
  const { path: full, fd } = openReadable(path)
  try {
    for (let tries = 1; tries <= TRIES; tries++) {
      const initialFingerprint = fingerprint(full)
      let moment: Moment | undefined
      const isStill = () => moment?.sharedDb !== null || fingerprint(full) === initialFingerprint
      try {
        moment = await openMoment(full, fd)
        const result = await act(moment)
        if (isStill()) return result
      } catch (error) {
        if (codeOf(error) === UNSETTLED) await Bun.sleep(PAUSE_MS)
        else if (isStill()) throw error
      } finally {
        moment?.sharedDb?.close(true)
      }
    }
    throw new OpenError(`${full} keeps changing; try again`)
  } catch (error) {
    throw explainFailedRead(error, full)
  } finally {
    closeSync(fd)
  }
}
