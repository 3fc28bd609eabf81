// Reads on a replica that must see a change made at the primary: they wait for it.

import { NOW, numberOf } from '../../change-log/change-log'
import { RequestError } from '../../request-errors'
import type { Store } from '../../store'
import type { App } from '../exchange'

/** In the response to a change: its cursor. In a request to a replica: the change that the response must include. */
export const CURSOR_HEADER = 'plantstore-cursor'

/** True for the routes whose responses show plants or their changes. */
export const isOfPlants = (route: string): boolean => /^\/(plants|tags)/.test(route)

const PATIENCE_MS = 1000
// The first of the pauses between reads; each is twice the last.
const MIN_PAUSE_MS = 10
const NOT_YET = 'busy: this replica has not received the change yet; retry shortly'

function requireNumber(cursor: string): number {
  const number = numberOf(cursor)
  if (number !== null) return number
  throw new RequestError('invalid', 'Plantstore-Cursor: expected the cursor of a change')
}

/**
 * Makes the reads of a replica wait until it has the change that their header names. `busy` if that takes too long;
 * `cursor expired` if the change is of another history.
 */
export function awaitChange(store: Store) {
  async function wait(cursor: string): Promise<void> {
    const number = requireNumber(cursor)
    const end = performance.now() + PATIENCE_MS
    for (let pause = MIN_PAUSE_MS; ; pause *= 2) {
      const { changeLog } = store
      if (!changeLog) throw new RequestError('no change log')
      const { next } = await changeLog.read({ after: NOW, limit: 0 })
      if (requireNumber(next) >= number) {
        await changeLog.read({ after: cursor, limit: 0 })
        return
      }
      const rest = end - performance.now()
      if (rest <= 0) throw new RequestError('busy', NOT_YET)
      // A part of a millisecond would not be slept.
      await Bun.sleep(Math.min(pause, Math.ceil(rest)))
    }
  }

  // The primary has every change that it has acknowledged.
  if (!store.stats().replica) return (app: App) => app
  return (app: App) =>
    app.onTransform(async ({ headers, request, route }) => {
      const cursor = headers[CURSOR_HEADER]
      const isRead = request.method === 'GET' || request.method === 'HEAD'
      if (cursor !== undefined && isRead && isOfPlants(route)) await wait(cursor)
    })
}
