// Removes old entries of the change log. If the server refuses that, every request still works: it is an event and a
// metric.

import { type RetainedLog, removeOldEntries } from '../../change-log/retention'
import { messageOf } from '../../errors'
import type { Log } from '../../log'
import type { Ask } from './connection/connection'
import { isInDoubt, isReadOnlyServer, sqlStateOf } from './connection/errors'
import type { Primary } from './connection/primary'
import { READER_SILENT_MS } from './connection/readers'
import type { Lane } from './lane/lane'
import { entryTimes, removeEntries, retainedLog } from './sql/change-log'

export function createRetention(primary: Primary, log: Log, ask: Ask, lane: Lane) {
  const counts = { removalFailures: 0 }
  let isFailing = false

  async function remove(upTo: number): Promise<void> {
    const { pages } = await primary.ready(0)
    try {
      await pages.within(READER_SILENT_MS, removeEntries(pages.sql, upTo))
      isFailing = false
    } catch (error) {
      // A lost server is reported as such.
      if (isInDoubt(error) || isReadOnlyServer(error)) return
      counts.removalFailures += 1
      const reason = { sqlstate: sqlStateOf(error), detail: messageOf(error) }
      if (!isFailing) log('error', 'changes-not-removed', reason)
      isFailing = true
    }
  }

  const entries: RetainedLog = {
    state: async () => (lane.hasChangeLog ? ask(retainedLog) : null),
    times: (after, limit) => ask((sql) => entryTimes(sql, after, limit)),
    remove,
  }

  return {
    counts,
    begin: () => removeOldEntries(entries, (removed) => log('info', 'changes-removed', removed)),
  }
}
