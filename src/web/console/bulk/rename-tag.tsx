// Renames a tag on every plant that has it, or merges it into another one.

import { useSignal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { Field } from '../controls/field.tsx'
import { Modal } from '../controls/modal.tsx'
import { countPlants } from '../counts.ts'
import type { PlantList } from '../list/plant-list.ts'
import { MAX_RANGE, readTagged } from '../list/range.ts'
import { beginningOf } from '../texts.ts'
import { type Step, taggingOf } from '../undo/step.ts'

const PROBLEMS = {
  'too many': `At most ${MAX_RANGE.toLocaleString()} plants can be changed at once`,
  failed: 'Nothing was changed: the plants cannot be read',
  none: 'No plant has this tag',
}

type RenameTagProps = {
  readonly tag: string
  readonly list: PlantList
  readonly onRename: (steps: readonly Step[], before: string, after: string) => void
  readonly onClose: () => void
}

/** Asks for the new name of a tag. Undo works as for any change of many plants. */
export function RenameTag({ tag, list, onRename, onClose }: RenameTagProps) {
  const text = useSignal(tag)
  const problem = useSignal<string | undefined>(undefined)
  const isReading = useSignal(false)
  const isOpen = useRef(true)
  useLayoutEffect(() => {
    // Selected, so that typing replaces it.
    document.querySelector<HTMLInputElement>('#new-tag')?.select()
    return () => {
      isOpen.current = false
    }
  }, [])
  const existingCount = text.value === tag ? undefined : list.tags.counts.get(text.value)

  async function rename(): Promise<void> {
    if (isReading.value) return
    const newTag = text.value
    problem.value = newTag.trim() === '' || newTag === tag ? 'Type another tag' : undefined
    if (problem.value) return
    isReading.value = true
    const readResult = await readTagged(list, tag)
    if (!isOpen.current) return
    isReading.value = false
    const plants = readResult.length === 0 ? 'none' : readResult
    if (typeof plants === 'string') {
      problem.value = PROBLEMS[plants]
      return
    }
    onClose()
    onRename(
      plants.map((plant) => taggingOf(plant, newTag)),
      tag,
      newTag,
    )
  }

  return (
    <Modal label={`Rename tag ${tag}`} onEscape={onClose}>
      <h2>
        Rename the tag <bdi>“{tag}”</bdi>
      </h2>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void rename()
        }}
      >
        <Field
          label="New name"
          name="new-tag"
          text={text}
          error={problem.value}
          hint={
            existingCount === undefined
              ? `Renames the tag “${beginningOf(tag)}” on every plant that has it.`
              : `${countPlants(existingCount)} ${existingCount === 1 ? 'has' : 'have'} it already: the two become one.`
          }
          tags={list.tags}
        />
        <div class="actions">
          <button type="submit" class="primary" aria-disabled={isReading.value}>
            {existingCount === undefined ? 'Rename' : 'Merge'}
          </button>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
        </div>
      </form>
    </Modal>
  )
}
