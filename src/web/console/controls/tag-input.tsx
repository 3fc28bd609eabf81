import { type Signal, useSignal } from '@preact/signals'
import type { InputHTMLAttributes } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'

const MAX_SUGGESTIONS = 8

/** The number of plants with each tag, the most used first. */
export type TagCounts = {
  readonly counts: ReadonlyMap<string, number>
  /** Reads the counts, unless they are known. */
  read(): Promise<void>
}

type TagInputProps = {
  readonly text: Signal<string>
  readonly tags: TagCounts
  readonly attributes: InputHTMLAttributes
}

type Suggestion = readonly [tag: string, count: number]

type SuggestionsProps = {
  readonly id: string
  readonly options: readonly Suggestion[]
  readonly active: number
  readonly onPick: (at: number) => void
}

const Suggestions = ({ id, options, active, onPick }: SuggestionsProps) => (
  <div role="listbox" id={id} aria-label="Tags">
    {options.map(([tag, count], at) => (
      // biome-ignore lint/a11y/useFocusableInteractive: the field has the focus, and points to the active option.
      // biome-ignore lint/a11y/useKeyWithClickEvents: Enter picks the active option.
      <div
        key={tag}
        role="option"
        id={`${id}-${at}`}
        aria-selected={at === active}
        // The field keeps the focus.
        onPointerDown={(event) => event.preventDefault()}
        onClick={() => onPick(at)}
      >
        <bdi>{tag}</bdi> <small>{count.toLocaleString()}</small>
      </div>
    ))}
  </div>
)

/** The tags that contain the typed text; the empty tag is not suggested. */
const suggestionsOf = (counts: TagCounts['counts'], text: string): readonly Suggestion[] =>
  [...counts]
    .filter(([tag]) => tag && tag !== text && tag.toLowerCase().includes(text.toLowerCase()))
    .slice(0, MAX_SUGGESTIONS)

/** A field that suggests tags that contain the typed text, the most used first. */
export function TagInput({ text, tags, attributes }: TagInputProps) {
  const id = useId()
  const isSuggesting = useSignal(false)
  const active = useSignal(-1)
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => void tags.read(), [tags])
  const options = isSuggesting.value ? suggestionsOf(tags.counts, text.value) : []
  const isOpen = options.length > 0

  function showSuggestions(isShown: boolean): void {
    isSuggesting.value = isShown
    active.value = -1
  }
  const close = (): void => showSuggestions(false)
  // Not once the field loses the keyboard: that would move a button between press and click.
  useEffect(() => {
    if (!isOpen) return
    const onClick = ({ target }: Event): void => {
      if (!(target instanceof Node && box.current?.contains(target))) close()
    }
    addEventListener('click', onClick, true)
    return () => removeEventListener('click', onClick, true)
  }, [isOpen])

  function pick(at: number): void {
    text.value = options[at]?.[0] ?? text.value
    close()
  }

  function onKeyDown(event: KeyboardEvent): void {
    const count = options.length
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined && count === 0) showSuggestions(true)
    else if (step !== undefined)
      active.value = (Math.max(active.value, -step) + step + count) % count
    else if (event.key === 'Enter' && active.value >= 0) pick(active.value)
    else if (event.key === 'Escape' && count > 0) {
      close()
      // The panel stays open.
      event.stopPropagation()
    } else {
      if (event.code === 'Tab') close()
      return
    }
    event.preventDefault()
  }

  return (
    <div class="tags" ref={box}>
      <input
        {...attributes}
        type="text"
        role="combobox"
        aria-autocomplete="list"
        aria-expanded={isOpen}
        aria-controls={id}
        aria-activedescendant={active.value < 0 ? undefined : `${id}-${active.value}`}
        autoCapitalize="none"
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value
          showSuggestions(true)
        }}
        onKeyDown={onKeyDown}
      />
      {isOpen ? (
        <Suggestions id={id} options={options} active={active.value} onPick={pick} />
      ) : null}
    </div>
  )
}
