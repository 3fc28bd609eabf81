import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Change, NewPlant } from '../../client/client.ts'
import { writers } from '../../formats/write.ts'
import { Copy } from './copy.tsx'
import type { Editor } from './editor.ts'
import { History, Moment } from './history.tsx'
import { Menu } from './menu.tsx'
import { labelOf, OTHER_TEXTS } from './texts.ts'

export type PageActions = {
  readonly base: URL
  readonly onTag: (tag: string) => void
  readonly onDelete: (plants: readonly NewPlant[]) => void
}

const NO_LOG = 40403

const curlOf = (base: URL, id: bigint): string =>
  `curl '${new URL(`plants/${id}`, base).href}' -H "Authorization: Bearer $TOKEN"`

/** When a plant was created and last changed, and by whom. */
function Dates({ changes }: { readonly changes: readonly Change[] }) {
  const newest = changes[0]
  const oldest = changes.at(-1)
  return (
    <>
      {oldest?.action === 'create' ? (
        <p class="hint">
          Created <Moment change={oldest} />
        </p>
      ) : null}
      {newest && newest !== oldest ? (
        <p class="hint">
          Changed <Moment change={newest} />
        </p>
      ) : null}
    </>
  )
}

type PlantPageProps = PageActions & {
  readonly editor: Editor
  readonly plant: NewPlant
  readonly isReadOnly: boolean
}

/** What is known of a plant below its name: its tag and id, and with the change log, its history. */
export function PlantPage({ editor, plant, isReadOnly, base, onTag, onDelete }: PlantPageProps) {
  const changes = useSignal<readonly Change[]>([])
  const next = useSignal<string | null>(null)
  const note = useSignal('')
  const { id, tag } = plant

  async function load(): Promise<void> {
    const page = await editor.history(id, next.value)
    if (!page.ok) {
      if (page.error !== NO_LOG) note.value = `Cannot read the history: ${page.message}.`
      return
    }
    changes.value = [...changes.value, ...page.value.changes]
    next.value = page.value.next
  }
  useEffect(() => void load(), [])

  return (
    <>
      <p class="facts">
        {tag === undefined ? null : (
          <button
            type="button"
            class="chip"
            dir="auto"
            title="Show only plants with this tag"
            onClick={() => onTag(tag)}
          >
            {tag === '' ? '(empty)' : tag}
          </button>
        )}
        <span class="id">ID {String(id)}</span>
      </p>
      {OTHER_TEXTS.filter((text) => plant[text] !== undefined).map((text) => (
        <p key={text}>
          {labelOf(text)}: <bdi>{plant[text]}</bdi>
        </p>
      ))}
      <Dates changes={changes.value} />
      {editor.errors.value.form ? (
        <p class="error" role="alert">
          {editor.errors.value.form}
        </p>
      ) : null}
      <div class="actions">
        {isReadOnly ? null : (
          <>
            <button type="button" class="primary" onClick={editor.edit}>
              Edit
            </button>
            <button type="button" class="danger" onClick={() => onDelete([plant])}>
              Delete
            </button>
          </>
        )}
        <Menu id="copies" label="Copy">
          <Copy label="Copy ID" text={String(id)} />
          <Copy label="Copy JSON" text={writers.ndjson.line(plant)} />
          <Copy label="Copy as curl" text={curlOf(base, id)} />
        </Menu>
      </div>
      {note.value === '' ? null : (
        <p class="error" role="status">
          {note.value}
        </p>
      )}
      <History
        changes={changes.value}
        onRestore={isReadOnly ? null : (version) => editor.restore(version)}
      />
      {next.value === null ? null : (
        <button type="button" class="quiet" onClick={() => void load()}>
          Show earlier changes
        </button>
      )}
    </>
  )
}
