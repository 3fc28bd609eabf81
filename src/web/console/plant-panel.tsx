import { useLayoutEffect, useRef } from 'preact/hooks'
import type { NewPlant } from '../../client/client.ts'
import type { Editor } from './editor.ts'
import { EditorForm } from './editor-form.tsx'
import { isPhone, SidePanel } from './modal.tsx'
import type { PlantList } from './plant-list.ts'
import { type PageActions, PlantPage } from './plant-page.tsx'

type StepProps = {
  readonly label: string
  readonly arrow: string
  readonly plant: NewPlant | undefined
  readonly onOpen: (plant: NewPlant) => void
}

const Step = ({ label, arrow, plant, onOpen }: StepProps) => (
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

type PlantPanelProps = PageActions & {
  readonly editor: Editor
  readonly list: PlantList
  readonly isReadOnly: boolean
  readonly onOpen: (plant: NewPlant, isForm: boolean) => void
}

/** One plant beside the table: its page, or the form that changes it; or a form for a new one. */
export function PlantPanel({ editor, list, isReadOnly, onOpen, ...actions }: PlantPanelProps) {
  const content = useRef<HTMLDivElement>(null)
  const plant = editor.stored.value?.plant
  const isForm = editor.isEditing.value
  list.version.value
  const [before, after] = plant ? list.around(plant.id) : []
  const step = (to: NewPlant) => onOpen(to, isForm)
  const label = plant ? `${isForm ? 'Edit plant' : 'Plant'} ${plant.id}` : 'Add a plant'
  // Next and Previous keep the focus. On a phone a field with the focus would open the keyboard over the plant.
  useLayoutEffect(() => {
    if (document.activeElement?.closest('.steps')) return
    const field = isPhone() && plant ? 'h2' : 'textarea, input'
    content.current?.querySelector<HTMLElement>(isForm ? field : 'h2')?.focus()
  }, [plant?.id, isForm])
  return (
    <SidePanel label={label} onEscape={() => editor.leave()}>
      <div ref={content}>
        <div class="panel-head">
          <h2 tabIndex={-1} dir="auto">
            {isForm || !plant ? label : plant.name === '' ? <i>no name</i> : plant.name}
          </h2>
          <div class="steps">
            {plant ? (
              <>
                <Step label="Previous plant" arrow="↑" plant={before} onOpen={step} />
                <Step label="Next plant" arrow="↓" plant={after} onOpen={step} />
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
        {plant && !isForm ? (
          <PlantPage
            // Each version has a tag of its own: its history is read again.
            key={`${plant.id} ${editor.stored.value?.etag}`}
            editor={editor}
            plant={plant}
            isReadOnly={isReadOnly}
            {...actions}
          />
        ) : (
          <EditorForm editor={editor} tags={list.tags} />
        )}
      </div>
    </SidePanel>
  )
}
