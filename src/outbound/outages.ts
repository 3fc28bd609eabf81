// Reports outages of the followed daemon; the client itself retries.

import type { Fetch } from '../client/client'
import { safeMessage } from '../redaction'

/** Wraps `send`: reports the first failure that the client retries, by its own rule, then the recovery. */
export function reportOutages(send: Fetch, origin: string, report: (line: string) => void): Fetch {
  let isAway = false
  const fail = (reason: string) => {
    if (!isAway) report(`waiting for the daemon: ${reason}`)
    isAway = true
  }
  return async (url, init) => {
    try {
      const answer = await send(url, init)
      const { status } = answer
      if (status === 429 || status >= 500) fail(`${origin} answered ${status}`)
      else if (isAway) {
        isAway = false
        report(`the daemon at ${origin} answers again`)
      }
      return answer
    } catch (error) {
      if (!init.signal?.aborted) fail(safeMessage(error))
      throw error
    }
  }
}
