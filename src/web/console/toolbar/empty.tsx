import type { PlantList } from '../list/plant-list.ts'
import { isEverything } from '../query.ts'
import { chooseFiles } from './toolbar.tsx'

type EmptyProps = {
  readonly list: PlantList
  readonly onAdd: () => void
  readonly onSamples: () => void
}

/** The ways to fill an empty store. */
function FirstSteps({ onAdd, onSamples }: EmptyProps) {
  return (
    <>
      <p class="actions">
        <button type="button" class="primary" onClick={onAdd}>
          Add the first plant
        </button>
        <button type="button" class="primary" onClick={chooseFiles}>
          Import a file…
        </button>
      </p>
      <p>
        A file may be CSV, TSV, a workbook (.xlsx, .xls, .ods), JSON or NDJSON. You can also drop it
        on this page.
      </p>
      <p>
        <button type="button" class="quiet" onClick={onSamples}>
          Add twelve sample plants to look around
        </button>
      </p>
    </>
  )
}

const READ_ONLY_ADVICE = {
  token: 'This token is read-only. Connect with a write token to add some.',
  daemon: 'This daemon is read-only. Add plants at its primary.',
} as const

function Content(props: EmptyProps) {
  const reason = props.list.session.readOnlyReason.value
  const { list } = props
  const { id } = list.visibleQuery
  if (!isEverything(list.visibleQuery)) {
    return (
      <>
        <p>No plant matches this search.</p>
        {id === undefined ? null : (
          <button type="button" onClick={() => void list.show({ name: String(id) })}>
            Search the names for {String(id)}
          </button>
        )}
      </>
    )
  }
  return (
    <>
      <h2>No plants yet</h2>
      {reason ? <p>{READ_ONLY_ADVICE[reason]}</p> : <FirstSteps {...props} />}
    </>
  )
}

/** Shown instead of rows when there are none. */
export const Empty = (props: EmptyProps) => (
  <div class="empty">
    <Content {...props} />
  </div>
)
