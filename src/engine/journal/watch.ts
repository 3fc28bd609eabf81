// Tells listeners that the log of changes may have new entries.

import { type ChangeLog, NOW } from '../../store'

// What other processes add is found by looking, and only while somebody listens.
const LOOK_EVERY_MS = 250

/** `read`: that of the log. Call `wake` after each commit of this process. */
export function createLogWatch(read: ChangeLog['read']) {
  const listeners = new Set<() => void>()
  let timer: Timer | undefined
  let seen = ''

  function wake(): void {
    for (const listener of listeners) listener()
  }

  async function look(): Promise<void> {
    // Whoever reads learns why it fails.
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
