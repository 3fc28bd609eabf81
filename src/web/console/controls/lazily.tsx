// Components that are loaded when they are first shown.

import { signal } from '@preact/signals'
import type { ComponentType, VNode } from 'preact'
import { useEffect } from 'preact/hooks'

/** A component that renders nothing until it is loaded. A failed load is retried when it is shown again. */
export function lazily<P extends object>(
  load: () => Promise<ComponentType<P>>,
): (props: P) => VNode | null {
  const loaded = signal<{ readonly Component: ComponentType<P> } | null>(null)
  return (props) => {
    useEffect(() => {
      if (loaded.value) return
      void load().then(
        (Component) => {
          loaded.value = { Component }
        },
        () => {},
      )
    }, [])
    const { Component } = loaded.value ?? {}
    return Component ? <Component {...props} /> : null
  }
}
