// Compact rows: a choice that the browser remembers.

import { effect, type Signal, signal } from '@preact/signals'

const KEY = 'plantstore-compact'

/** Reads the choice, and keeps it when it changes. */
export function createCompact(): Signal<boolean> {
  const isCompact = signal(false)
  try {
    isCompact.value = localStorage.getItem(KEY) !== null
    effect(() => {
      if (isCompact.value) localStorage.setItem(KEY, '')
      else localStorage.removeItem(KEY)
    })
  } catch {
    // The browser has storage turned off: the choice stays in memory.
  }
  return isCompact
}
