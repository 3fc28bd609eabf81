import { useEffect, useMemo } from 'preact/hooks'
import type { Change, NewPlant } from '../../../client/client.ts'
import { Alert } from '../controls/alert.tsx'
import { Modal } from '../controls/modal.tsx'
import { Select } from '../controls/select.tsx'
import { timeOf } from '../controls/time.tsx'
import { countChanges } from '../counts.ts'
import { FieldChanges, TimeAndAuthor } from '../editor/history.tsx'
import type { PlantList } from '../list/plant-list.ts'
import type { UndoHistory } from '../undo/undo-history.ts'
import { KINDS, type Kind, RecentChanges } from './recent-changes.ts'

const ALL = ''
const NAMES = Object.keys(KINDS) as Kind[]

function Filters({ recent }: { readonly recent: RecentChanges }) {
  const { kind, text } = recent.filter.value
  return (
    <div class="choices">
      <input
        type="search"
        dir="auto"
        aria-label="Search the changes"
        placeholder="Name, tag, ID or who changed it"
        autoComplete="off"
        spellcheck={false}
        value={text}
        onInput={({ currentTarget }) => void recent.choose({ text: currentTarget.value })}
      />
      <Select
        name="changed-how"
        label="Kind"
        value={kind ?? ALL}
        options={[[ALL, 'All changes'], ...NAMES.map((name) => [name, name] as const)]}
        onChoose={(value) =>
          void recent.choose({ kind: NAMES.find((name) => name === value) ?? null })
        }
      />
    </div>
  )
}

type RecentChangeProps = {
  readonly change: Change
  readonly recent: RecentChanges
  readonly onOpen: (plant: Pick<NewPlant, 'id'>) => void
}

function RecentChange({ change, recent, onOpen }: RecentChangeProps) {
  const { id, before, after } = change
  // The differences already show a new name.
  const showsName = before !== null && (after === null || before.name === after.name)
  return (
    <li>
      <p>
        {recent.isStored(id) ? (
          <button type="button" class="quiet inline" onClick={() => onOpen(change)}>
            Plant {String(id)}
          </button>
        ) : (
          <b>Plant {String(id)}</b>
        )}{' '}
        {showsName ? <bdi>{before.name}</bdi> : null}
      </p>
      <FieldChanges before={before} after={after} />
      <div class="hint">
        <p>
          <TimeAndAuthor change={change} />
        </p>
        {recent.isLastDeletion(change) && !recent.list.session.isReadOnly.value ? (
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

function statusOf({ matches, oldest, isReading, failure }: RecentChanges): string {
  if (isReading.value) return 'Reading the changes…'
  if (!oldest.value) return failure.value === '' ? 'No change is recorded yet' : ''
  const since = `since ${timeOf(new Date(oldest.value.at))}`
  const count = matches.value.length
  return `${count === 0 ? 'No such change' : countChanges(count)} ${since}`
}

/** The button below the list. It stays mounted, to keep the focus. */
function EarlierChanges({ recent }: { readonly recent: RecentChanges }) {
  const isReading = recent.isReading.value
  if (recent.visibleChanges.value.length === 0 && (isReading || !recent.hasMore.value)) return null
  const isUsable = recent.hasMore.value && !isReading
  return (
    <button
      type="button"
      class="quiet"
      aria-disabled={!isUsable}
      onClick={() => {
        if (isUsable) void recent.readMore()
      }}
    >
      {recent.hasMore.value ? 'Show earlier changes' : 'No earlier changes'}
    </button>
  )
}

type RecentPanelProps = Pick<RecentChangeProps, 'onOpen'> & {
  readonly list: PlantList
  readonly undoHistory: UndoHistory
  readonly onClose: () => void
}

/** Recent changes with their authors, and buttons to restore deleted plants. */
export function RecentPanel({ list, undoHistory, onClose, onOpen }: RecentPanelProps) {
  const recent = useMemo(() => new RecentChanges(list, undoHistory), [list, undoHistory])
  useEffect(() => void recent.read(), [recent])
  function open(plant: Pick<NewPlant, 'id'>): void {
    onClose()
    onOpen(plant)
  }
  return (
    <Modal label="Recent changes" onEscape={onClose}>
      <div class="panel-head">
        <h2 tabIndex={-1}>Recent changes</h2>
        <button type="button" class="quiet" aria-label="Close" title="Close" onClick={onClose}>
          ×
        </button>
      </div>
      <Filters recent={recent} />
      <section class="history">
        <p class="hint" role="status">
          {statusOf(recent)}
        </p>
        {/* The page behind the dialog is silent. */}
        <p role="status">{undoHistory.announcer.sentence}</p>
        <Alert text={recent.failure.value} />
        <ol aria-label="Recent changes">
          {recent.visibleChanges.value.map((change) => (
            <RecentChange key={change.cursor} change={change} recent={recent} onOpen={open} />
          ))}
        </ol>
        <EarlierChanges recent={recent} />
      </section>
    </Modal>
  )
}
