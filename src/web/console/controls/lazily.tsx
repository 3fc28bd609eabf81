// Components that are loaded when they are first shown.

import { signal } from '@preact/signals'
import type { ComponentType, VNode } from 'preact'
import { useEffect } from 'preact/hooks'

/** A component that renders nothing until it is loaded. A failed load is retried when it is shown again. */
export function lazily<P extends object>(
  load: () => Promise<ComponentType<P>>,
): (props: P) => VNode | null {
  const component = signal<{ readonly Component: ComponentType<P> } | null>(null)
  return (props) => {
    useEffect(() => {
      if (component.value) return
      void load().then(
        (Component) => {
          component.value = { Component }
        },
        () => {},
      )
    }, [])
    const { Component } = component.value ?? {}
    return Component ? <Component {...props} /> : null
  }
}
