// Follows the change log, if the service keeps one, so that the table shows the changes of others at once.

import { type Change, ERRORS, type Result } from '../../../client/client.ts'
import { yieldToBrowser } from '../yield.ts'
import type { PlantList } from './plant-list.ts'

// Changes within this time are shown together, as drawing the rows takes long.
const BATCH_MS = 50

/** `show` shows changes, and is awaited. */
export function createFollower(
  list: PlantList,
  show: (changes: readonly Change[]) => Promise<void>,
) {
  const { session } = list
  let abort = new AbortController()

  /** The cursor at the end of the change log; undefined if there is none. */
  async function endOfLog(signal: AbortSignal): Promise<string | undefined> {
    if (!session.hasChangeLog.value) return undefined
    const end = await session.call((client) => client.listChanges({ after: 'now' }, { signal }))
    return end.ok ? end.value.next : undefined
  }

  async function follow(from: string, signal: AbortSignal): Promise<void> {
    let pendingChanges: Change[] = []
    let showing = Promise.resolve()

    async function showSoon(): Promise<void> {
      await new Promise((resolve) => setTimeout(resolve, BATCH_MS))
      if (signal.aborted) return
      const changes = pendingChanges
      pendingChanges = []
      await show(changes)
    }

    for (let cursor: string | undefined = from; cursor !== undefined && !signal.aborted; ) {
      let after: string = cursor
      const endResult = await session.persist(async (client): Promise<Result<null>> => {
        try {
          const pause = yieldToBrowser()
          list.isLive.value = true
          for await (const change of client.changes({ after, signal })) {
            after = change.cursor
            if (pendingChanges.length === 0) showing = showing.then(showSoon)
            pendingChanges.push(change)
            await pause()
          }
          return { ok: true, value: null }
        } finally {
          list.isLive.value = false
        }
      }, signal)
      if (endResult.ok || endResult.error !== ERRORS['cursor expired']) return
      // Later reads may be newer.
      await showing
      cursor = await endOfLog(signal)
      list.refresh()
    }
  }

  return {
    /** Starts; resolves once every later change will be seen, or there is no change log. */
    async start(): Promise<void> {
      abort.abort()
      abort = new AbortController()
      const { signal } = abort
      const end = await endOfLog(signal)
      if (end !== undefined && !signal.aborted) void follow(end, signal)
    },

    stop: (): void => abort.abort(),
  }
}
