import { countEdits } from '../counts.ts'
import type { Editor } from './editor.ts'
import type { PlantForm } from './plant-form.ts'

function reasonOf({ errors, conflict, isDeleted }: PlantForm): string {
  if (isDeleted.value) return 'it was deleted elsewhere'
  const { value: both } = conflict
  if (both) return `someone else changed the ${both.fields.join(' and the ')} too`
  return Object.values(errors.value)[0] ?? 'it was refused'
}

function RefusedNotice({ editor, form }: { readonly editor: Editor; readonly form: PlantForm }) {
  const name = form.draft.texts.name.value
  return (
    <li>
      <span>
        {form.id === null ? 'Not added: ' : `Plant ${form.id} was not saved: `}
        {form.id === null ? <b>{name}</b> : null} {reasonOf(form)}
      </span>
      <button
        type="button"
        aria-label={`Open ${form.id === null ? name : `plant ${form.id}`}, as it was typed`}
        onClick={() => editor.openRefused(form)}
      >
        Open
      </button>
    </li>
  )
}

type UnsavedProps = {
  readonly editor: Editor
  /** False while the service cannot write or does not answer. */
  readonly isHealthy: boolean
}

/** Lists refused edits, and counts those that wait for the end of an outage. */
export function Unsaved({ editor, isHealthy }: UnsavedProps) {
  const refusedForms = editor.saves.refusedForms.value
  const pendingCount = isHealthy ? 0 : editor.saves.pendingForms.value.length
  if (refusedForms.length + pendingCount === 0) return null
  return (
    <section class="undo" aria-label="Not saved" role="alert">
      {pendingCount > 0 ? <p>{countEdits(pendingCount)} not saved yet; retrying</p> : null}
      <ul>
        {refusedForms.map((form) => (
          <RefusedNotice key={form} editor={editor} form={form} />
        ))}
      </ul>
    </section>
  )
}
