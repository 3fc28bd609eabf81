// Reports outages of the followed daemon; the client itself retries silently.

import type { Fetch } from '../client/client'
import { safeMessage } from '../errors'

const REMIND_MS = { first: 60_000, longest: 3_600_000 }

/** The failure of an answer that will be retried, by the client's own rule. */
const failureOf = ({ status }: Response, origin: string): string | null =>
  status === 429 || status >= 500 ? `${origin} answered ${status}` : null

/**
 * Wraps `send`: reports the first failure at once, then less and less often, then the recovery. `now`: milliseconds.
 */
export function reportOutages(
  send: Fetch,
  origin: string,
  report: (line: string) => void,
  now: () => number,
): Fetch {
  let failures = 0
  let remindMs = REMIND_MS.first
  let nextAt = 0

  function fail(reason: string): void {
    if (failures++ === 0) {
      remindMs = REMIND_MS.first
      report(`waiting for the daemon: ${reason}`)
    } else if (now() >= nextAt) {
      remindMs = Math.min(remindMs * 2, REMIND_MS.longest)
      report(`still waiting for the daemon: ${reason}`)
    } else return
    nextAt = now() + remindMs
  }

  return async (url, init) => {
    try {
      const answer = await send(url, init)
      const failure = failureOf(answer, origin)
      if (failure !== null) fail(failure)
      else if (failures > 0) {
        failures = 0
        report(`the daemon at ${origin} answers again`)
      }
      return answer
    } catch (error) {
      if (!init.signal?.aborted) fail(safeMessage(error))
      throw error
    }
  }
}
