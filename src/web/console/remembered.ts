// Choices that the browser remembers.

import { effect, type Signal, signal } from '@preact/signals'

/** A choice by its name, as it was last made, or by default. */
export function createRemembered(name: string, isDefault: boolean): Signal<boolean> {
  const key = `plantstore-${name}`
  const choice = signal(isDefault)
  try {
    const storedValue = localStorage.getItem(key)
    if (storedValue !== null) choice.value = storedValue !== 'off'
    effect(() => {
      if (choice.value === isDefault) localStorage.removeItem(key)
      else localStorage.setItem(key, choice.value ? 'on' : 'off')
    })
  } catch {
    // The browser has storage turned off: the choice stays in memory.
  }
  return choice
}
