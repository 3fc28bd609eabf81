// The write lock in the hands of another program. Once a commit has waited for it in vain, changes are refused at once,
// until it is free.

import { ApiError } from '../../errors'
import type { Role } from '../role'
import { LOCKED } from './errors'

const RETRY_MS = 1000

/** Watches for one storage. `tryLock` takes the lock and releases it; it rejects, at once, if it cannot. */
export function watchForeignLock({ log }: Role, tryLock: () => Promise<void>) {
  let reason: ApiError | null = null
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
    /** Why changes are refused; null if they are not. */
    reason: (): ApiError | null => reason,
    /** Notes that a commit has waited in vain, for this many milliseconds; returns the reason. */
    waited(milliseconds: number): ApiError {
      if (reason) return reason
      reason = new ApiError(50301, LOCKED)
      since = performance.now() - milliseconds
      log('error', 'database-locked', { detail: LOCKED })
      retry = setTimeout(look, RETRY_MS)
      return reason
    },
    close: (): void => clearTimeout(retry),
  }
}
