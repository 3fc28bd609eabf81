// Tells listeners that the change log may have new entries: at once after a commit of this process, and after a look at the
// change log for those of others.

import { type ChangeLog, NOW } from './change-log'

// Only while somebody listens.
const LOOK_EVERY_MS = 250

/** `read`: that of the change log. Call `wake` after each commit of this process. */
export function createChangeLogWatch(read: ChangeLog['read']) {
  const listeners = new Set<() => void>()
  let timer: Timer | undefined
  let seen = ''

  function wake(): void {
    for (const listener of listeners) listener()
  }

  async function look(): Promise<void> {
    // If it fails, listeners are woken, and their next read reports the error.
    const { next } = await read({ after: NOW, limit: 0 }).catch(() => ({ next: '' }))
    if (next === seen) return
    seen = next
    wake()
  }

  return {
    wake,
    watch(listener: () => void): () => void {
      const own = () => listener()
      listeners.add(own)
      timer ??= setInterval(look, LOOK_EVERY_MS)
      return () => {
        listeners.delete(own)
        if (listeners.size > 0) return
        clearInterval(timer)
        timer = undefined
      }
    },
  }
}
