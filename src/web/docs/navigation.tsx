// The table of contents, which marks the section in view.
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Group } from './description'
import { Method } from './method'

type Props = { readonly groups: readonly Group[] }

/** The id of the section in view; empty above the first. */
function useCurrentSection(): string {
  const current = useSignal('')
  useEffect(() => {
    const sections = [...document.querySelectorAll('.intro, .operation, .models')]
    // The current section is the one that crosses a line below the bar.
    const observer = new IntersectionObserver(
      (entries) => {
        for (const { isIntersecting, target } of entries)
          if (isIntersecting) current.value = target.id
      },
      { rootMargin: '-25% 0px -74% 0px' },
    )
    for (const section of sections) observer.observe(section)
    return () => observer.disconnect()
  }, [current])
  return current.value
}

/** Whether the list starts open: beside the reference, but not above it on a phone. */
function useIsWide(): boolean {
  const query = useRef(matchMedia('(min-width: 52.01rem)')).current
  const isWide = useSignal(query.matches)
  useEffect(() => {
    const follow = () => {
      isWide.value = query.matches
    }
    query.addEventListener('change', follow)
    return () => query.removeEventListener('change', follow)
  }, [query, isWide])
  return isWide.value
}

type EntryProps = {
  readonly id: string
  readonly current: string
  readonly children: ComponentChildren
}

const Entry = ({ id, current, children }: EntryProps) => (
  <li>
    <a class="entry" href={`#${id}`} aria-current={id === current ? 'true' : undefined}>
      {children}
    </a>
  </li>
)

export function Navigation({ groups }: Props) {
  const current = useCurrentSection()
  const isWide = useIsWide()
  return (
    <nav class="contents" aria-label="Operations">
      <details open={isWide}>
        <summary class="contents-title">Operations</summary>
        {groups.map(({ name, operations }) => (
          <section key={name}>
            <h2 class="contents-group">{name}</h2>
            <ul class="contents-list">
              {operations.map(({ operationId, method, path, summary }) => (
                <Entry key={operationId} id={operationId} current={current}>
                  <Method name={method} />
                  <span>{summary ?? path}</span>
                </Entry>
              ))}
            </ul>
          </section>
        ))}
        <ul class="contents-list">
          <Entry id="schemas" current={current}>
            Schemas
          </Entry>
        </ul>
      </details>
    </nav>
  )
}
