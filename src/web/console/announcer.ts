// The sentence about the latest action, shown and spoken. It disappears after a while.

import { signal } from '@preact/signals'

const SHOWN_MS = 10_000

export function createAnnouncer() {
  const sentence = signal('')
  /** Counts the sentences: the same one twice is spoken twice. */
  const count = signal(0)
  let timer: ReturnType<typeof setTimeout> | undefined
  return {
    sentence,
    count,
    announce(text: string): void {
      sentence.value = text
      count.value += 1
      clearTimeout(timer)
      timer = setTimeout(() => {
        sentence.value = ''
      }, SHOWN_MS)
    },
  }
}
