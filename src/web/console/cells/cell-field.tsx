import { useLayoutEffect, useRef } from 'preact/hooks'
import { type TagCounts, TagInput } from '../controls/tag-input.tsx'
import type { PlantForm } from '../editor/plant-form.ts'
import { labelOf, type TextName } from '../texts.ts'

export type OpenCell = {
  readonly id: bigint
  readonly text: TextName
  readonly form: PlantForm
  /** The row where it was opened. */
  readonly row: number
  /** True once the field was shown; it is rendered again when its row moves. */
  isShown: boolean
}

type CellFieldProps = {
  readonly cell: OpenCell
  readonly tags: TagCounts
  /** Saves the text, or discards it. */
  readonly onEnd: (isSaved: boolean) => void
  /** Saves the text, and edits another cell. */
  readonly onStep: (step: 1 | -1) => void
  /** Called when the field may have lost the focus. */
  readonly onLeave: () => void
  /** Called when the field was removed with the focus in it. */
  readonly onRemoved: () => void
}

/** Focuses a field: at first its text is selected, later the cursor is at the end. */
function focusField(input: HTMLInputElement, cell: OpenCell): void {
  input.focus({ preventScroll: true })
  if (cell.isShown) input.setSelectionRange(-1, -1)
  else input.select()
  cell.isShown = true
}

/** True for a cell in the lower half of the table, which has no room below it. */
function isLow(box: Element): boolean {
  const table = box.closest('[role="grid"]')?.getBoundingClientRect() ?? new DOMRect()
  return box.getBoundingClientRect().top > table.top + table.height / 2
}

/** The field that edits a cell. */
export function CellField(props: CellFieldProps) {
  const { cell, tags, onEnd, onStep, onLeave, onRemoved } = props
  const { id, text, form } = cell
  const draft = form.draft.texts[text]
  const box = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const input = box.current?.querySelector('input')
    if (input) focusField(input, cell)
    if (box.current && isLow(box.current)) box.current.classList.add('up')
    // In a background window, Firefox reports no other loss of focus.
    addEventListener('click', onLeave, true)
    return () => {
      removeEventListener('click', onLeave, true)
      if (input === document.activeElement) onRemoved()
      else onLeave()
    }
  }, [cell])
  const attributes = {
    'aria-label': `${labelOf(text)} of plant ${id}`,
    dir: 'auto',
    autoComplete: 'off',
    spellcheck: false,
  } as const
  function onKeyDown(event: KeyboardEvent): void {
    // Keys in a field are not shortcuts of the table or the page.
    event.stopPropagation()
    const { key, code, shiftKey } = event
    if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.altKey) return
    // With Shift, WebKit on GTK reports only the key.
    if (code === 'Tab') onStep(shiftKey ? -1 : 1)
    else if (key === 'Enter' || key === 'Escape') onEnd(key === 'Enter')
    else return
    event.preventDefault()
  }
  const stop = (event: Event): void => event.stopPropagation()
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only keeps events of the field from the table.
    <div
      ref={box}
      class="cell-field"
      onKeyDown={onKeyDown}
      onPointerDown={stop}
      onClick={stop}
      onDblClick={stop}
      onFocusOut={onLeave}
    >
      {text === 'tag' ? (
        <TagInput text={draft} tags={tags} attributes={attributes} />
      ) : (
        <input
          {...attributes}
          type="text"
          autoCapitalize="none"
          value={draft.value}
          onInput={(event) => {
            draft.value = event.currentTarget.value
          }}
        />
      )}
    </div>
  )
}
