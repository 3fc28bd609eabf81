// Follows the change log, if the service keeps one, so that the table shows the changes of others at once.

import { ClientError, type Result } from '../../../client/client.ts'
import type { Session } from '../session.ts'
import type { PlantList } from './plant-list.ts'

const PLACE_GONE = 41001

/** `onChange` is called with the id of each plant that changed, and awaited. */
export function createFollower(
  session: Session,
  list: PlantList,
  onChange: (id: bigint) => Promise<void>,
) {
  let abort = new AbortController()

  /** The cursor at the end of the change log; undefined if there is none. */
  async function endOfLog(signal: AbortSignal): Promise<string | undefined> {
    if (!session.hasChangeLog.value) return undefined
    const end = await session.call((client) => client.listChanges({ after: 'now' }, { signal }))
    return end.ok ? end.value.next : undefined
  }

  async function follow(from: string, signal: AbortSignal): Promise<void> {
    for (let cursor: string | undefined = from; cursor !== undefined && !signal.aborted; ) {
      let after: string = cursor
      const ended = await session.persist(async (client): Promise<Result<null>> => {
        try {
          list.isLive.value = true
          for await (const change of client.changes({ after, signal })) {
            after = change.cursor
            list.change(change.id, change.after)
            await onChange(change.id)
          }
          return { ok: true, value: null }
        } catch (error) {
          if (error instanceof ClientError) return error.failure
          throw error
        } finally {
          list.isLive.value = false
        }
      }, signal)
      if (ended.ok || ended.error !== PLACE_GONE) return
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
