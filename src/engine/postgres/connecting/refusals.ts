// Refusals by the server, as errors and as failures of the storage. Some are the fault of the data, and say nothing about
// the server.

import { codeOf, type FailedAccess, messageOf, RequestError } from '../../../errors'
import { type Events, type StorageFailure, StorageState } from '../../storage-state'
import type { StoreUser } from '../../store-user'
import { errorNameOf, hasWaited, isDataError, isLockTimeout, isRetried, sqlStateOf } from './errors'
import { LOCK_MS } from './settings'

// A server that confirms nothing for this long is unhealthy: longer than a write waits for a lock.
const STALLED_MS = LOCK_MS + 1000

/** What a server refuses. Its connections and its tables are logged where they are looked at. */
const EVENTS: Events = {
  stalled: ['error', 'disk-stalled', 'info', 'disk-resumed'],
  full: ['error', 'disk-full', 'info', 'writable-again'],
  refused: ['error', 'statement-refused', 'info', 'statements-accepted'],
}

function toError({ kind, detail, sqlstate }: StorageFailure, seconds: number): RequestError {
  switch (kind) {
    case 'full':
      return new RequestError('disk full')
    case 'barred':
      return new RequestError(
        'cannot write',
        `the database server refuses statements (SQLSTATE ${sqlstate}); see the log`,
      )
    case 'failed':
      return new RequestError(
        'cannot write',
        `no connection to the database server for ${seconds} s`,
      )
    default:
      return new RequestError('cannot write', detail)
  }
}

export const createServerState = ({ log }: StoreUser): StorageState =>
  new StorageState({
    log,
    events: EVENTS,
    toError,
    storage: 'the database server',
    stalledMs: STALLED_MS,
  })

/** The failure of a storage whose server refuses a statement. */
export function failureOf(error: unknown): StorageFailure {
  const detail = messageOf(error)
  if (errorNameOf(error) === 'disk full') return { kind: 'full', detail }
  return { kind: 'barred', detail, sqlstate: sqlStateOf(error) || codeOf(error) }
}

/**
 * True if a refusal is the fault neither of the data nor of a single statement, such as one that took too long. A lock
 * that is not granted here is a table's: locked rows are left out.
 */
const isOfServer = (error: unknown): boolean =>
  sqlStateOf(error) !== '' &&
  !isRetried(error) &&
  !isDataError(error) &&
  (!hasWaited(error) || isLockTimeout(error))

/** Returns the error shown to a client or a user when the server refuses a statement. */
export type Refuse = (error: unknown, access?: FailedAccess) => RequestError

export const createRefuse =
  (storage: StorageState, { outlivesOutages }: StoreUser): Refuse =>
  (error, access = 'cannot write') => {
    if (error instanceof RequestError) return error
    if (isOfServer(error)) storage.report({ source: 'read', failure: failureOf(error) })
    const name = errorNameOf(error) ?? access
    return outlivesOutages
      ? new RequestError(name)
      : new RequestError(name, `the database server answered: ${messageOf(error)}`)
  }
