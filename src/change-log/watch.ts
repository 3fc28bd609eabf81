// Notifies listeners of new entries in the change log: at once after a commit of this process, and by polling for those
// of others.

import { type ChangeListener, type ChangeLog, NOW } from './change-log'

// Polls only while there are listeners.
const POLL_MS = 250

/** `read` reads the change log. Call `wake` after each commit of this process. */
export function createChangeLogWatch(read: ChangeLog['read']) {
  const listeners = new Set<ChangeListener>()
  let timer: Timer | undefined
  let isPolling = false
  let lastCursor = ''

  function wake(end?: string): void {
    for (const listener of listeners) listener(end)
  }

  async function poll(): Promise<void> {
    // A lost server takes seconds to answer.
    if (isPolling) return
    isPolling = true
    // On failure, listeners are notified too: their next read reports the error.
    const { next } = await read({ after: NOW, limit: 0 }).catch(() => ({ next: '' }))
    isPolling = false
    if (next === lastCursor) return
    lastCursor = next
    wake(next)
  }

  return {
    wake: () => wake(),
    watch(listener: ChangeListener): () => void {
      // Distinct, so that one listener can be added twice.
      const own: ChangeListener = (end) => listener(end)
      listeners.add(own)
      timer ??= setInterval(poll, POLL_MS)
      return () => {
        listeners.delete(own)
        if (listeners.size > 0) return
        clearInterval(timer)
        timer = undefined
      }
    },
  }
}
