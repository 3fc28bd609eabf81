import { type Signal, useSignal } from '@preact/signals'
import type { Change, Plant } from '../../client/client.ts'
import type { Editor } from './editor.ts'

const DONE = {
  create: 'created',
  replace: 'replaced',
  patch: 'changed',
  delete: 'deleted',
} as const satisfies Record<Change['action'], string>

const Version = ({ plant }: { readonly plant: Plant }) => (
  <span class="version">
    {plant.name === '' ? <i>no name</i> : <bdi>{plant.name}</bdi>}
    {plant.tag === undefined ? null : (
      <>
        {' '}
        · <bdi>{plant.tag}</bdi>
      </>
    )}
  </span>
)

type HistoryProps = {
  readonly editor: Editor
  readonly id: bigint
  /** Whether it is unfolded. */
  readonly isShown: Signal<boolean>
  readonly isReadOnly: boolean
}

/** Who changed a plant, and when; each version can be put into the form again. */
export function History({ editor, id, isShown, isReadOnly }: HistoryProps) {
  const changes = useSignal<readonly Change[]>([])
  const note = useSignal('')
  const next = useSignal<string | null>(null)

  async function load(): Promise<void> {
    note.value = 'Loading…'
    const page = await editor.history(id, next.value)
    if (!page.ok) {
      note.value = `There is no history: ${page.message}`
      return
    }
    changes.value = [...changes.value, ...page.value.changes]
    next.value = page.value.next ?? null
    note.value = changes.value.length === 0 ? 'No change of this plant is in the log.' : ''
  }

  return (
    <details
      class="history"
      open={isShown.value}
      onToggle={({ currentTarget }) => {
        isShown.value = currentTarget.open
        if (currentTarget.open && changes.value.length === 0) void load()
      }}
    >
      <summary>History</summary>
      {note.value === '' ? null : <p role="status">{note.value}</p>}
      <ol aria-label="History">
        {changes.value.map(({ cursor, at, action, token, request, after }) => (
          <li key={cursor}>
            <p>
              <b>{DONE[action]}</b> by {token ?? request ?? 'a command'},{' '}
              <time dateTime={at}>{new Date(at).toLocaleString()}</time>
            </p>
            {after === null ? null : (
              <p class="actions">
                <Version plant={after} />
                {isReadOnly ? null : (
                  <button type="button" onClick={() => editor.restore(after)}>
                    Restore this version
                  </button>
                )}
              </p>
            )}
          </li>
        ))}
      </ol>
      {next.value === null ? null : (
        <button type="button" onClick={() => void load()}>
          Show earlier changes
        </button>
      )}
    </details>
  )
}
