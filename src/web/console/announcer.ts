// The sentence about the latest action, for eyes and screen readers. It disappears after a while.

import { signal } from '@preact/signals'

const SHOWN_MS = 6000

export function createAnnouncer() {
  const status = signal('')
  let timer = 0
  return {
    status,
    announce(text: string): void {
      status.value = text
      clearTimeout(timer)
      timer = window.setTimeout(() => {
        status.value = ''
      }, SHOWN_MS)
    },
  }
}
