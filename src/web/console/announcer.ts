// The sentence about the latest action, shown and spoken. It disappears after a while.

import { signal } from '@preact/signals'

const SHOWN_MS = 10_000

export type Announcer = ReturnType<typeof createAnnouncer>

export function createAnnouncer() {
  const sentence = signal('')
  /** Counts the sentences: the same one twice is spoken twice. */
  const count = signal(0)
  /** What Undo takes back, if the sentence is about that. */
  const undoable = signal<string | null>(null)
  let timer: ReturnType<typeof setTimeout> | undefined
  return {
    sentence,
    count,
    undoable,
    announce(text: string): void {
      sentence.value = text
      undoable.value = null
      count.value += 1
      clearTimeout(timer)
      timer = setTimeout(() => {
        sentence.value = ''
      }, SHOWN_MS)
    },
  }
}
