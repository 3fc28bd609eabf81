// The search, and the table of contents, which marks the section in view.
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Group, Schemas } from './description'
import { Method } from './method'
import { operationWords, schemaWords } from './words'

type Props = { readonly groups: readonly Group[]; readonly schemas: Schemas }

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

/** True if the list starts open: beside the reference, but not above it on a phone. */
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

/** The search field, which `/` focuses. */
function useSlash() {
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const { key, target, ctrlKey, metaKey, altKey } = event
      if (key !== '/' || ctrlKey || metaKey || altKey) return
      if (target instanceof Element && target.closest('input, textarea, select')) return
      event.preventDefault()
      field.current?.focus()
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [])
  return field
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

export function Navigation({ groups, schemas }: Props) {
  const current = useCurrentSection()
  const isWide = useIsWide()
  const field = useSlash()
  const list = useRef<HTMLDetailsElement>(null)
  const search = useSignal('')
  const sought = search.value.toLowerCase().split(/\s+/)
  const isFound = (text: string) => sought.every((word) => text.includes(word))
  const isSearching = search.value.trim() !== ''
  const found = groups
    .map(({ name, operations }) => ({
      name,
      operations: operations.filter((operation) => isFound(operationWords(operation))),
    }))
    .filter(({ operations }) => operations.length > 0)
  const foundSchemas = Object.entries(schemas)
    .filter(([name, schema]) => isSearching && isFound(schemaWords(name, schema)))
    .map(([name]) => name)
  const isNone = found.length === 0 && foundSchemas.length === 0
  return (
    <nav class="contents" aria-label="Operations">
      <search>
        <form
          onSubmit={(event) => {
            event.preventDefault()
            if (isSearching) list.current?.querySelector<HTMLElement>('.entry')?.click()
          }}
        >
          <input
            ref={field}
            type="search"
            aria-label="Search"
            placeholder="Search: ETag, 40901"
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            enterkeyhint="search"
            value={search.value}
            onInput={({ currentTarget }) => {
              search.value = currentTarget.value
            }}
          />
        </form>
      </search>
      <p class="hint" role="status">
        {isNone && 'Nothing has all of these words.'}
      </p>
      <details ref={list} open={isWide || isSearching}>
        <summary class="contents-title">Operations</summary>
        {found.map(({ name, operations }) => (
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
          {isSearching ? (
            foundSchemas.map((name) => (
              <Entry key={name} id={`schema-${name}`} current={current}>
                {name}
              </Entry>
            ))
          ) : (
            <Entry id="schemas" current={current}>
              Schemas
            </Entry>
          )}
        </ul>
      </details>
    </nav>
  )
}
