// The write lock while another program holds it. Once a commit has timed out, changes are refused at once until the
// lock is free: it is tried each second.

import { RequestError } from '../../../errors'
import type { StoreUser } from '../../store-user'
import { LOCKED } from '../file/errors'

const RETRY_MS = 1000

/** The lock of a database while another program holds it. */
export type ForeignLock = {
  /** The reason that changes are refused; null if they are not. */
  reason(): RequestError | null
  /** Notes that a commit timed out after this many milliseconds; returns the reason. */
  waited(milliseconds: number): RequestError
  close(): void
}

/** Watches the lock of one database. `tryLock` locks and unlocks it, and rejects at once if it cannot. */
export function watchForeignLock({ log }: StoreUser, tryLock: () => Promise<void>): ForeignLock {
  let reason: RequestError | null = null
  let since = 0
  let retry: Timer | undefined

  async function look(): Promise<void> {
    try {
      await tryLock()
      reason = null
      log('info', 'database-unlocked', { seconds: Math.round((performance.now() - since) / 1000) })
    } catch {
      retry = setTimeout(look, RETRY_MS)
    }
  }

  return {
    reason: () => reason,
    waited(milliseconds) {
      if (reason) return reason
      reason = new RequestError('busy', LOCKED)
      since = performance.now() - milliseconds
      log('error', 'database-locked', { detail: LOCKED })
      retry = setTimeout(look, RETRY_MS)
      return reason
    },
    close: () => clearTimeout(retry),
  }
}
