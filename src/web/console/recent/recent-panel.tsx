import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import type { Change, NewPlant } from '../../../client/client.ts'
import { Modal } from '../controls/modal.tsx'
import { Select } from '../controls/select.tsx'
import { Differences, Moment } from '../editor/history.tsx'
import { KINDS, type Kind, type RecentChanges } from './recent-changes.ts'

const ALL = ''
const NAMES = Object.keys(KINDS) as Kind[]

function Filters({ recent }: { readonly recent: RecentChanges }) {
  const [author, kind] = [recent.author.value, recent.kind.value]
  return (
    <div class="choices">
      <Select
        name="changed-by"
        label="By"
        value={author ?? ALL}
        options={[[ALL, 'Everyone'], ...recent.authors.value.map((it) => [it, it] as const)]}
        onChoose={(it) => void recent.choose(it === ALL ? null : it, kind)}
      />
      <Select
        name="changed-how"
        label="Kind"
        value={kind ?? ALL}
        options={[[ALL, 'All changes'], ...NAMES.map((it) => [it, it] as const)]}
        onChoose={(it) => void recent.choose(author, NAMES.find((name) => name === it) ?? null)}
      />
    </div>
  )
}

type RecentChangeProps = {
  readonly change: Change
  readonly recent: RecentChanges
  readonly isReadOnly: boolean
  readonly onOpen: (plant: Pick<NewPlant, 'id'>) => void
}

function RecentChange({ change, recent, isReadOnly, onOpen }: RecentChangeProps) {
  const { id, before, after } = change
  // A name that is new is among the differences.
  const isKnown = before !== null && (after === null || before.name === after.name)
  const isGone = recent.isGone(change)
  return (
    <li>
      <p>
        {after === null ? (
          <b>Plant {String(id)}</b>
        ) : (
          <button type="button" class="quiet inline" onClick={() => onOpen(change)}>
            Plant {String(id)}
          </button>
        )}{' '}
        {isKnown ? <bdi>{before.name}</bdi> : null}
      </p>
      <Differences before={before} after={after} />
      <div class="hint">
        <p>
          <Moment change={change} />
        </p>
        {isGone && !isReadOnly ? (
          <button
            type="button"
            class="quiet inline"
            aria-label={`Restore plant ${id}`}
            onClick={() => void recent.restore(change)}
          >
            Restore
          </button>
        ) : null}
      </div>
    </li>
  )
}

function outcomeOf({ shown, isReading, hasMore }: RecentChanges): string {
  if (isReading.value) return 'Reading the changes…'
  if (shown.value.length > 0) return ''
  return hasMore.value ? 'None of the changes that were read.' : 'No such change is recorded.'
}

type RecentPanelProps = Omit<RecentChangeProps, 'change'> & { readonly onClose: () => void }

/** What changed lately, by whom, and a way to restore what was deleted. */
export function RecentPanel({ onClose, onOpen, ...props }: RecentPanelProps) {
  const { recent } = props
  const heading = useRef<HTMLHeadingElement>(null)
  useLayoutEffect(() => heading.current?.focus(), [])
  useEffect(() => void recent.read(), [])
  function open(plant: Pick<NewPlant, 'id'>): void {
    onClose()
    onOpen(plant)
  }
  return (
    <Modal label="Recent changes" onEscape={onClose}>
      <div class="panel-head">
        <h2 ref={heading} tabIndex={-1}>
          Recent changes
        </h2>
        <button type="button" class="quiet" aria-label="Close" title="Close" onClick={onClose}>
          ×
        </button>
      </div>
      <Filters recent={recent} />
      <section class="history">
        <p role="status">{outcomeOf(recent) || recent.restored.value}</p>
        {recent.problem.value ? (
          <p class="error" role="alert">
            {recent.problem.value}
          </p>
        ) : null}
        <ol aria-label="Recent changes">
          {recent.shown.value.map((change) => (
            <RecentChange key={change.cursor} change={change} onOpen={open} {...props} />
          ))}
        </ol>
        {recent.hasMore.value && !recent.isReading.value ? (
          <button type="button" class="quiet" onClick={() => void recent.readMore()}>
            Show earlier changes
          </button>
        ) : null}
      </section>
    </Modal>
  )
}
