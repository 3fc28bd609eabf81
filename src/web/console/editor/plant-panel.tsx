import { useLayoutEffect, useRef } from 'preact/hooks'
import type { NewPlant } from '../../../client/client.ts'
import { fieldInUse, invalidField, placeCaret } from '../controls/focus.ts'
import { isPhone, SidePanel } from '../controls/modal.tsx'
import { beginningOf } from '../texts.ts'
import type { Editor } from './editor.ts'
import { EditorForm } from './editor-form.tsx'
import type { PlantForm } from './plant-form.ts'
import { type PageActions, PlantPage } from './plant-page.tsx'

type StepProps = {
  readonly label: string
  readonly arrow: string
  readonly plant: NewPlant | undefined
  readonly onOpen: (plant: NewPlant) => void
}

const StepButton = ({ label, arrow, plant, onOpen }: StepProps) => (
  <button
    type="button"
    class="quiet"
    aria-label={label}
    title={label}
    aria-disabled={plant === undefined}
    onClick={() => {
      if (plant) onOpen(plant)
    }}
  >
    {arrow}
  </button>
)

type HeadProps = {
  readonly editor: Editor
  readonly label: string
  readonly onStep: (plant: NewPlant) => void
}

/** The ID of the plant, or the title of a form, beside the buttons to step to others and to close. */
function Head({ editor, label, onStep }: HeadProps) {
  const { rows } = editor.list
  const plant = editor.form.value?.storedVersion.value?.plant
  rows.version.value
  const [before, after] = plant ? rows.neighbours(plant.id) : []
  return (
    <div class="panel-head">
      {plant && !editor.isEditing.value ? (
        <p class="id">ID {String(plant.id)}</p>
      ) : (
        <h2 tabIndex={-1}>{label}</h2>
      )}
      <div class="steps">
        {plant ? (
          <>
            <StepButton label="Previous plant" arrow="↑" plant={before} onOpen={onStep} />
            <StepButton label="Next plant" arrow="↓" plant={after} onOpen={onStep} />
          </>
        ) : null}
        <button
          type="button"
          class="quiet"
          aria-label="Close"
          title="Close"
          onClick={() => editor.leave()}
        >
          ×
        </button>
      </div>
    </div>
  )
}

type PlantPanelProps = PageActions & {
  readonly editor: Editor
  readonly form: PlantForm
  readonly onOpen: (plant: NewPlant, isForm: boolean) => void
}

/** One plant beside the table: its page, the form that changes it, or the form of a new one. */
export function PlantPanel({ editor, form, onOpen, ...actions }: PlantPanelProps) {
  const content = useRef<HTMLDivElement>(null)
  /** The plant opened by Next or Previous, which keep the focus. */
  const stepTo = useRef<bigint | null>(null)
  const storedPlant = form.storedVersion.value?.plant
  const isSaving = editor.saves.pendingForms.value.includes(form)
  const plant = storedPlant && isSaving ? form.draft.toPlant(storedPlant.id) : storedPlant
  const isForm = editor.isEditing.value
  const label = plant ? `${isForm ? 'Edit plant' : 'Plant'} ${plant.id}` : 'Add a plant'
  useLayoutEffect(() => {
    if ((plant && plant.id === stepTo.current) || fieldInUse(content.current)) return
    const { typedField } = editor
    const field = typedField === null ? 'textarea, input' : `[name=${typedField}]`
    // On a phone a field with the focus would open the keyboard over the plant.
    const isField = isForm && !(isPhone() && plant)
    const target =
      invalidField(content.current) ??
      content.current?.querySelector<HTMLElement>(isField ? field : 'h2')
    target?.focus()
    if (typedField !== null) placeCaret(target)
  }, [form, plant?.id, isForm])
  function step(to: NewPlant): void {
    stepTo.current = to.id
    onOpen(to, isForm)
  }
  return (
    <SidePanel label={label} onEscape={() => editor.leave()}>
      <div ref={content}>
        <Head editor={editor} label={label} onStep={step} />
        {plant && !isForm ? (
          <>
            <h2 tabIndex={-1} dir="auto">
              {plant.name === '' ? <i>no name</i> : beginningOf(plant.name)}
            </h2>
            <PlantPage
              // Each version has another ETag: its history is read again.
              key={`${plant.id} ${form.storedVersion.value?.etag}`}
              editor={editor}
              form={form}
              plant={plant}
              {...actions}
            />
          </>
        ) : (
          <EditorForm editor={editor} form={form} />
        )}
      </div>
    </SidePanel>
  )
}
