// Components that are loaded when they are first shown.

import { signal } from '@preact/signals'
import type { ComponentType, VNode } from 'preact'
import { useEffect } from 'preact/hooks'

/**
 * A component that renders nothing until it is loaded. A failed load is retried when it is shown again. `load` loads it
 * ahead: what is typed before it is shown would be lost.
 */
export function lazily<P extends object>(importComponent: () => Promise<ComponentType<P>>) {
  const component = signal<{ readonly Component: ComponentType<P> } | null>(null)
  async function load(): Promise<void> {
    if (component.value) return
    const Component = await importComponent().catch(() => null)
    if (Component) component.value = { Component }
  }
  function Lazy(props: P): VNode | null {
    useEffect(() => void load(), [])
    const { Component } = component.value ?? {}
    return Component ? <Component {...props} /> : null
  }
  return Object.assign(Lazy, { load })
}
