import { useSignal } from '@preact/signals'
import type { NewPlant } from '../../client/client.ts'
import type { Selection } from './selection.ts'
import { type TagCounts, TagInput } from './tag-input.tsx'

type SelectionBarProps = {
  readonly selection: Selection
  readonly tags: () => TagCounts
  readonly onTag: (tag: string) => void
  readonly onDelete: (plants: readonly NewPlant[]) => void
}

/** What can be done to all plants that are ticked. */
export function SelectionBar({ selection, tags, onTag, onDelete }: SelectionBarProps) {
  const tag = useSignal('')
  const count = selection.ids.value.size
  if (count === 0) return null
  return (
    <section class="selected" aria-label="Selected plants">
      <b role="status">{count.toLocaleString()} selected</b>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          onTag(tag.value)
        }}
      >
        <TagInput
          text={tag}
          tags={tags}
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
      <button type="button" class="danger" onClick={() => onDelete(selection.plants())}>
        Delete
      </button>
      <button type="button" class="quiet" onClick={selection.clear}>
        Clear
      </button>
    </section>
  )
}
