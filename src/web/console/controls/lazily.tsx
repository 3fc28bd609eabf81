// Components that are loaded when they are first shown.

import { signal } from '@preact/signals'
import type { ComponentType, VNode } from 'preact'
import { useEffect } from 'preact/hooks'
import { Alert } from './alert.tsx'

/** The reason that a part of the page could not be loaded. */
export const NOT_LOADED = 'this page is out of date, or plantstore does not answer; reload the page'

/**
 * A component that renders nothing until it is loaded, or the reason that it cannot be. A failed load is retried when it
 * is shown again. `load` loads it ahead: what is typed before it is shown would be lost.
 */
export function lazily<P extends object>(importComponent: () => Promise<ComponentType<P>>) {
  const component = signal<{ readonly Component: ComponentType<P> | null } | null>(null)
  async function load(): Promise<void> {
    if (component.value?.Component) return
    component.value = null
    component.value = { Component: await importComponent().catch(() => null) }
  }
  function Lazy(props: P): VNode | null {
    useEffect(() => void load(), [])
    if (!component.value) return null
    const { Component } = component.value
    if (Component) return <Component {...props} />
    return <Alert text={NOT_LOADED} />
  }
  return Object.assign(Lazy, { load })
}
