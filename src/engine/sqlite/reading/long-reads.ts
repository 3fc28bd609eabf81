// Long reads, such as searches, share a few milliseconds of each event loop turn and queue for more, so that any number
// of them leaves time for other requests.

import { clientGone, RequestError } from '../../../errors'
import { MAX_WAITING_READS, TOO_MANY_READS } from '../../page'

const TURN_MS = 4
// More than a turn has time for: a short list and its answer take 0.1 ms.
const MAX_READS_PER_TURN = 64

/** `run` reads; it rejects instead if the signal is aborted. */
type QueuedRead = { readonly signal: AbortSignal | undefined; readonly run: () => void }

/**
 * Runs a read, at once if possible. Rejects with `busy` if too many are queued, or if the signal is aborted meanwhile.
 */
type RunLongRead = <T>(read: () => Promise<T>, signal?: AbortSignal) => Promise<T>

/** `now`: monotonic time in milliseconds. */
export function createLongReads(now = () => performance.now()): RunLongRead {
  let queue: QueuedRead[] = []
  let endsAt = 0
  let isTurning = false

  function isWanted({ signal, run }: QueuedRead): boolean {
    if (!signal?.aborted) return true
    run()
    return false
  }

  // A separate call for each read, because its answer is made before the next one, and counts too.
  function runNext(): void {
    if (now() < endsAt) queue.shift()?.run()
  }

  function beginTurn(): void {
    endsAt = now() + TURN_MS
    isTurning = queue.length > 0
    if (isTurning) scheduleTurn()
  }

  function scheduleTurn(): void {
    setImmediate(beginTurn)
    for (let n = Math.min(queue.length, MAX_READS_PER_TURN); n > 0; n--) setImmediate(runNext)
  }

  function hasTime(): boolean {
    if (!isTurning) {
      isTurning = true
      endsAt = now() + TURN_MS
      scheduleTurn()
    }
    return queue.length === 0 && now() < endsAt
  }

  return (read, signal) => {
    if (hasTime()) return read()
    if (queue.length === MAX_WAITING_READS) queue = queue.filter(isWanted)
    if (queue.length === MAX_WAITING_READS)
      return Promise.reject(new RequestError('busy', TOO_MANY_READS))
    return new Promise((resolve, reject) => {
      const run = () => {
        if (signal?.aborted) reject(clientGone())
        else read().then(resolve, reject)
      }
      queue.push({ signal, run })
    })
  }
}
