import { useSignal } from '@preact/signals'
import type { NewPlant } from '../../../client/client.ts'
import { TagInput } from '../controls/tag-input.tsx'
import type { Selection } from '../list/selection.ts'

type SelectionBarProps = {
  readonly selection: Selection
  readonly onCopy: () => void
  readonly onTag: (tag: string) => void
  readonly onDelete: (plants: readonly NewPlant[]) => void
}

/** The number of ticked plants, and the actions on all of them. */
export function SelectionBar({ selection, onCopy, onTag, onDelete }: SelectionBarProps) {
  const tag = useSignal('')
  const { size, hasAll } = selection
  const isReading = selection.isReading.value
  if (size === 0 && !isReading) return null
  const status = (
    <b role="status">
      {isReading
        ? 'Selecting…'
        : `${hasAll && size > 1 ? 'All ' : ''}${size.toLocaleString()} selected`}
    </b>
  )
  if (size === 0) return status
  return (
    <section class="selected" aria-label="Selected plants">
      {status}
      <form
        onSubmit={(event) => {
          event.preventDefault()
          onTag(tag.value)
        }}
      >
        <TagInput
          text={tag}
          tags={selection.list.tags}
          attributes={{
            dir: 'auto',
            'aria-label': 'Tag for all of them',
            placeholder: 'Tag',
            autoComplete: 'off',
            spellcheck: false,
          }}
        />
        <button type="submit">{tag.value === '' ? 'Remove tag' : 'Set tag'}</button>
      </form>
      <button type="button" popovertarget="menu">
        Export
      </button>
      <button type="button" onClick={onCopy}>
        Copy
      </button>
      <button type="button" class="danger" onClick={() => onDelete(selection.plants())}>
        Delete
      </button>
      <button type="button" class="quiet" onClick={selection.clear}>
        Clear
      </button>
    </section>
  )
}
