import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Change, NewPlant, Plant } from '../../../client/client.ts'
import { WRITERS } from '../../../formats/write.ts'
import { Alert } from '../controls/alert.tsx'
import { CopyButton } from '../controls/copy-button.tsx'
import { Menu } from '../controls/menu.tsx'
import { TagChip } from '../controls/tag-chip.tsx'
import { labelOf, OTHER_TEXTS } from '../texts.ts'
import type { Step } from '../undo/step.ts'
import type { Editor } from './editor.ts'
import { History, NoHistory } from './history.tsx'
import type { PlantForm } from './plant-form.ts'

export type PageActions = {
  readonly onTag: (tag: string) => void
  readonly onDelete: (plants: readonly NewPlant[]) => void
  readonly onChange: (steps: readonly Step[]) => Promise<unknown>
}

const PAGE_CHANGES = 20

const curlOf = (base: URL, id: bigint): string =>
  `curl '${new URL(`plants/${id}`, base).href}' -H "Authorization: Bearer $TOKEN"`

type PlantPageProps = PageActions & {
  readonly editor: Editor
  readonly form: PlantForm
  readonly plant: NewPlant
}

const OtherTexts = ({ plant }: Pick<PlantPageProps, 'plant'>) =>
  OTHER_TEXTS.filter((text) => plant[text] !== undefined).map((text) => (
    <p key={text}>
      {labelOf(text)}: <bdi>{plant[text]}</bdi>
    </p>
  ))

type ActionProps = Pick<PlantPageProps, 'editor' | 'plant' | 'onDelete'> & {
  readonly isGone: boolean
}

const Actions = ({ editor, plant, isGone, onDelete }: ActionProps) => (
  <div class="actions">
    {editor.list.session.isReadOnly.value || isGone ? null : (
      <>
        <button type="button" class="primary" onClick={editor.edit}>
          Edit
        </button>
        <button type="button" onClick={() => editor.add(plant)}>
          Duplicate
        </button>
        <button type="button" class="danger" onClick={() => onDelete([plant])}>
          Delete
        </button>
      </>
    )}
    <Menu id="copies" label="Copy">
      <CopyButton label="Copy ID" text={String(plant.id)} />
      <CopyButton label="Copy JSON" text={WRITERS.ndjson.line(plant)} />
      <CopyButton label="Copy as curl" text={curlOf(editor.list.session.base, plant.id)} />
    </Menu>
  </div>
)

/** The page of a plant below its name: the tag, and with a change log the history. */
export function PlantPage(props: PlantPageProps) {
  const { editor, form, plant, onTag, onChange } = props
  const { id, tag } = plant
  const { hasChangeLog, isReadOnly } = editor.list.session
  const changes = useSignal<readonly Change[]>([])
  const next = useSignal<string | null>(null)
  const isRead = useSignal(false)
  const note = useSignal('')
  const isGone = form.isDeleted.value
  const problem = isGone
    ? 'This plant was deleted elsewhere.'
    : Object.values(form.errors.value).join('; ')

  async function load(): Promise<void> {
    if (!hasChangeLog.value) return
    const limits = { limit: PAGE_CHANGES, ...(next.value === null ? {} : { after: next.value }) }
    const page = await editor.list.session.call((client) => client.history(id, limits))
    if (page.ok) {
      isRead.value = true
      changes.value = [...changes.value, ...page.value.changes]
      next.value = page.value.next
    } else if (hasChangeLog.value) note.value = `Cannot read the history: ${page.message}.`
  }
  useEffect(() => void load(), [])

  async function restore(version: Plant): Promise<void> {
    await onChange([{ id, before: plant, after: { id, ...version } }])
    await form.readAgain()
  }

  return (
    <>
      {tag === undefined ? null : <TagChip tag={tag} onClick={() => onTag(tag)} />}
      <OtherTexts plant={plant} />
      <Alert text={problem} />
      <Actions {...props} isGone={isGone} />
      {note.value === '' ? null : (
        <p class="error" role="status">
          {note.value}
        </p>
      )}
      <History
        changes={changes.value}
        current={plant}
        onRestore={isReadOnly.value || isGone ? null : (version) => void restore(version)}
      />
      {changes.value.length === 0 && (isRead.value || !hasChangeLog.value) ? (
        <NoHistory hasLog={hasChangeLog.value} />
      ) : null}
      {next.value === null ? null : (
        <button type="button" class="quiet" onClick={() => void load()}>
          Show earlier changes
        </button>
      )}
    </>
  )
}
