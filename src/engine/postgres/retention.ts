// Removes old entries of the change log. If the server refuses that, every request still works: it is an event and a
// metric.

import { messageOf } from '../../errors'
import type { Log } from '../../log'
import { isInDoubt, isReadOnlyServer, sqlStateOf } from './connecting/errors'
import type { Primary } from './connecting/primary'
import { READER_SILENT_MS } from './connecting/readers'
import { removeEntries } from './sql/change-log'

export function createRetention(primary: Primary, log: Log) {
  const counts = { removalFailures: 0 }
  let isFailing = false

  return {
    counts,
    /** Removes a few entries. Resolves to true if there may be more. */
    async removeExpired(): Promise<boolean> {
      const { pages } = await primary.ready(0)
      try {
        const isMoreLeft = await pages.within(READER_SILENT_MS, removeEntries(pages.sql))
        isFailing = false
        return isMoreLeft
      } catch (error) {
        // A lost server is reported as such.
        if (isInDoubt(error) || isReadOnlyServer(error)) return false
        counts.removalFailures += 1
        const reason = { sqlstate: sqlStateOf(error), detail: messageOf(error) }
        if (!isFailing) log('error', 'changes-not-removed', reason)
        isFailing = true
        return false
      }
    },
  }
}
