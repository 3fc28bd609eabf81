import { useSignal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { NewPlant } from '../../client/client.ts'
import { writers } from '../../formats/write.ts'
import { Copy } from './copy.tsx'
import type { Editor } from './editor.ts'
import { EditorForm } from './editor-form.tsx'
import { History } from './history.tsx'
import { isPhone, SidePanel } from './modal.tsx'
import type { PlantPages } from './plant-pages.ts'

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

type PlantPanelProps = {
  readonly editor: Editor
  readonly pages: PlantPages
  readonly isReadOnly: boolean
  readonly onOpen: (plant: NewPlant) => void
  readonly onDelete: (plants: readonly NewPlant[]) => void
}

/** One plant beside the table: its fields, what the API says of it, and its history; or a new one. */
export function PlantPanel({ editor, pages, isReadOnly, onOpen, onDelete }: PlantPanelProps) {
  const content = useRef<HTMLDivElement>(null)
  const isHistoryShown = useSignal(false)
  const plant = editor.stored.value?.plant
  pages.version.value
  const [before, after] = plant ? pages.around(plant.id) : []
  const title = plant ? `${isReadOnly ? 'Plant' : 'Edit plant'} ${plant.id}` : 'Add a plant'
  // Next and Previous keep the focus. On a phone a field with the focus would open the keyboard over the plant.
  useLayoutEffect(() => {
    if (document.activeElement?.closest('.steps')) return
    const first = plant && (isPhone() || isReadOnly) ? 'h2' : 'input, textarea'
    content.current?.querySelector<HTMLElement>(first)?.focus()
  }, [plant?.id])
  return (
    <SidePanel label={title} onEscape={() => editor.leave()}>
      <div ref={content}>
        <div class="panel-head">
          <h2 tabIndex={-1}>{title}</h2>
          <div class="steps">
            {plant ? (
              <>
                <Step label="Previous plant" arrow="↑" plant={before} onOpen={onOpen} />
                <Step label="Next plant" arrow="↓" plant={after} onOpen={onOpen} />
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
        <EditorForm editor={editor} isReadOnly={isReadOnly} tags={pages.tags} />
        {plant ? (
          <>
            <div class="more">
              <Copy label="Copy ID" text={String(plant.id)} />
              {isReadOnly ? null : (
                <button type="button" class="quiet danger" onClick={() => onDelete([plant])}>
                  Delete
                </button>
              )}
            </div>
            <details>
              <summary>JSON</summary>
              <pre>{writers.ndjson.line(plant)}</pre>
              <Copy label="Copy JSON" text={writers.ndjson.line(plant)} />
            </details>
            <History
              // Each version has a tag of its own: what is shown is read again.
              key={`${plant.id} ${editor.stored.value?.etag}`}
              editor={editor}
              id={plant.id}
              isShown={isHistoryShown}
              isReadOnly={isReadOnly}
            />
          </>
        ) : null}
      </div>
    </SidePanel>
  )
}
