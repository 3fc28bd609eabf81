// Removes old entries of the change log. If the server refuses that, every request still works: it is an event.

import { type RetainedLog, removeOldEntries } from '../../change-log/retention'
import { messageOf } from '../../errors'
import type { Log } from '../../log'
import type { Ask } from './connection/connection'
import { isInDoubt, isReadOnlyServer, sqlStateOf } from './connection/errors'
import type { Primary } from './connection/primary'
import { entryTimes, removeEntries } from './sql/change-log'

/** Begins the removal. Returns the function that ends it. */
export function beginRetention(primary: Primary, log: Log, state: RetainedLog['state'], ask: Ask) {
  let isFailing = false

  async function remove(upTo: number): Promise<void> {
    const { pages } = await primary.ready(0)
    try {
      await pages.ask((sql) => removeEntries(sql, upTo))
      isFailing = false
    } catch (error) {
      // A lost server is reported as such.
      if (isInDoubt(error) || isReadOnlyServer(error)) return
      const reason = { sqlstate: sqlStateOf(error), detail: messageOf(error) }
      if (!isFailing) log('error', 'changes-not-removed', reason)
      isFailing = true
    }
  }

  const entries: RetainedLog = {
    state,
    times: (after, limit) => ask((sql) => entryTimes(sql, after, limit)),
    remove,
  }

  return removeOldEntries(entries, (removed) => log('info', 'changes-removed', removed))
}
