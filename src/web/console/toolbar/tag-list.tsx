import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { hideAttributes, Menu } from '../controls/menu.tsx'
import { isPhone } from '../controls/modal.tsx'
import type { PlantList } from '../list/plant-list.ts'

const ID = 'tag-list'
const MAX_TAGS = 100
// From this many tags on, the menu has a field to filter them.
const MANY_TAGS = 20

type FinderProps = { readonly text: Signal<string>; readonly onEnter: () => void }

/** The field that filters tags; Enter shows the first one. */
function TagFilter({ text, onEnter }: FinderProps) {
  const field = useRef<HTMLInputElement>(null)
  // On a phone the keyboard would cover the tags.
  useLayoutEffect(() => {
    if (!isPhone()) field.current?.focus()
  }, [])
  return (
    <input
      ref={field}
      type="search"
      dir="auto"
      aria-label="Find a tag"
      placeholder="Find a tag"
      autoComplete="off"
      autoCapitalize="none"
      spellcheck={false}
      value={text.value}
      onInput={({ currentTarget }) => {
        text.value = currentTarget.value
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || event.isComposing) return
        // It must not submit the search form around it.
        event.preventDefault()
        onEnter()
      }}
    />
  )
}

/** The tags with the number of plants that have each, the most used first. */
function Tags({ list }: { readonly list: PlantList }) {
  const filterText = useSignal('')
  useEffect(() => {
    const { tags } = list
    // Without a change log, changes by others go unnoticed.
    tags.markStale()
    void tags.read()
  }, [list])
  const tagCounts = list.tags.tagCounts.value
  const all = [...list.tags.counts]
  const text = filterText.value.trim().toLowerCase()
  const matchingTags = all.filter(([name]) => name.toLowerCase().includes(text))
  const { tag, isUntagged = false } = list.query.value
  function show(name: string): void {
    document.getElementById(ID)?.hidePopover()
    void list.show({ tag: name })
  }
  return (
    <>
      {all.length >= MANY_TAGS ? (
        <TagFilter text={filterText} onEnter={() => matchingTags[0] && show(matchingTags[0][0])} />
      ) : null}
      {tagCounts && all.length === 0 ? <p>No plant has a tag yet.</p> : null}
      {all.length > 0 && matchingTags.length === 0 ? (
        <p role="status">No tag has this in it.</p>
      ) : null}
      <ul aria-label="Tags">
        {matchingTags.slice(0, MAX_TAGS).map(([name, count]) => (
          <li key={name}>
            <button
              type="button"
              class="quiet"
              aria-pressed={name === tag}
              onClick={() => show(name)}
            >
              <bdi>{name || '(empty)'}</bdi> <small>{count.toLocaleString()}</small>
            </button>
          </li>
        ))}
      </ul>
      {matchingTags.length > MAX_TAGS ? (
        <p>
          These are the {MAX_TAGS} most used of {tagCounts?.isPart ? 'the first ' : null}
          {matchingTags.length.toLocaleString()} tags.
        </p>
      ) : null}
      {tagCounts?.untagged === 0 ? null : (
        <button
          type="button"
          class="quiet untagged"
          aria-pressed={isUntagged}
          {...hideAttributes(ID)}
          onClick={() => void list.show({ isUntagged: true })}
        >
          No tag{' '}
          {tagCounts?.untagged == null ? null : (
            <small>{tagCounts.untagged.toLocaleString()}</small>
          )}
        </button>
      )}
      {tagCounts ? null : <p role="status">Counting…</p>}
    </>
  )
}

/** A menu of tags to search for. */
export function TagList({ list }: { readonly list: PlantList }) {
  const isShown = useSignal(false)
  return (
    <Menu
      id={ID}
      label="Tags"
      onToggle={(isNow) => {
        isShown.value = isNow
      }}
    >
      {isShown.value ? <Tags list={list} /> : null}
    </Menu>
  )
}
