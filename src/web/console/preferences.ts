// Preferences that the browser stores.

import { effect, type Signal, signal } from '@preact/signals'

/** A stored preference, or its default. */
export function createPreference(name: string, isDefault: boolean): Signal<boolean> {
  const key = `plantstore-${name}`
  const preference = signal(isDefault)
  try {
    const storedValue = localStorage.getItem(key)
    if (storedValue !== null) preference.value = storedValue !== 'off'
    effect(() => {
      if (preference.value === isDefault) localStorage.removeItem(key)
      else localStorage.setItem(key, preference.value ? 'on' : 'off')
    })
  } catch {
    // The browser has storage turned off: the preference stays in memory.
  }
  return preference
}
