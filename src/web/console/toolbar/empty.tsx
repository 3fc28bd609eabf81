import { CopyButton } from '../controls/copy-button.tsx'
import type { PlantList } from '../list/plant-list.ts'
import type { Query } from '../query.ts'
import { chooseFiles } from './toolbar.tsx'

const curlOf = (base: URL): string =>
  [
    `curl '${new URL('plants', base).href}'`,
    '-H "Authorization: Bearer $TOKEN"',
    "-H 'Content-Type: application/json'",
    `--data '{"id":1,"name":"Monstera deliciosa","tag":"aroid"}'`,
  ].join(' \\\n  ')

type EmptyProps = {
  readonly list: PlantList
  readonly onAdd: () => void
  readonly onSamples: () => void
}

/** The ways to fill an empty store. */
function FirstSteps({ list, onAdd, onSamples }: EmptyProps) {
  const curl = curlOf(list.session.base)
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
      <details>
        <summary>From a terminal</summary>
        <pre>{curl}</pre>
        <CopyButton label="Copy the command" text={curl} />
      </details>
    </>
  )
}

const NotFound = ({ name, tag, list }: Query & Pick<EmptyProps, 'list'>) => (
  <p>
    No plant has{' '}
    {name === undefined ? null : (
      <>
        <bdi>{name}</bdi> in its name
      </>
    )}
    {name !== undefined && tag !== undefined ? ' and ' : null}
    {tag === undefined ? null : (
      <>
        the tag <bdi>{tag}</bdi>
      </>
    )}
    .
    {name !== undefined && !list.rows.isFiltered ? (
      <>
        <br />
        Among so many plants only this very spelling is found, accents included.
      </>
    ) : null}
  </p>
)

const READ_ONLY_ADVICE = {
  token: 'This token is read-only. Connect with a write token to add some.',
  daemon: 'This daemon is read-only. Add plants at its primary.',
} as const

function Content(props: EmptyProps) {
  const reason = props.list.session.readOnlyReason.value
  const { list } = props
  const { id, name, tag, isUntagged } = list.visibleQuery
  if (id !== undefined) {
    return (
      <>
        <p>No plant has the ID {String(id)}.</p>
        <button type="button" onClick={() => void list.show({ name: String(id) })}>
          Search the names for {String(id)}
        </button>
      </>
    )
  }
  if (isUntagged && name === undefined) return <p>Every plant has a tag.</p>
  if (name !== undefined || tag !== undefined)
    return <NotFound {...list.visibleQuery} list={list} />
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
