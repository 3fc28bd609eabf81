import { plantsOf } from '../counts.ts'
import type { Pending, PendingActions } from './pending-actions.ts'

type ActionProps = Pick<Pending, 'action' | 'plants'>

function Description({ action: { tag }, plants }: ActionProps) {
  const [first, another] = plants
  const which = another ? (
    <b>{plantsOf(plants.length)}</b>
  ) : (
    <>
      <b>{String(first?.id)}</b> <bdi>{first?.name}</bdi>
    </>
  )
  if (tag === undefined) return <span>Deleting {which}</span>
  if (tag === '') return <span>Removing the tag from {which}</span>
  return (
    <span>
      Setting the tag <bdi>“{tag}”</bdi> on {which}
    </span>
  )
}

function undoLabel({ action, plants }: ActionProps): string {
  const [first, another] = plants
  const which = another ? plantsOf(plants.length) : `plant ${first?.id}`
  return `Undo the ${action.tag === undefined ? 'deletion' : 'tag'} of ${which}`
}

/**
 * The actions that can be undone, the progress of those that are carried out, and the deletions that can be taken back.
 */
export function UndoList({ pending }: { readonly pending: PendingActions }) {
  const all = pending.waiting.value
  const running = pending.running.value.filter(({ plants }) => plants.length > 1)
  const deleted = pending.deletions.recent.value
  if (all.length + running.length + deleted.length === 0) return null
  const pause = (isPaused: boolean) => () => {
    pending.isPaused.value = isPaused
  }
  return (
    <section
      class="undo"
      aria-label="Latest changes"
      // Not enter: it may appear under a pointer that rests.
      onPointerMove={pause(true)}
      onPointerLeave={pause(false)}
      onFocusIn={pause(true)}
      onFocusOut={pause(false)}
    >
      <ul>
        {deleted.map((it) => (
          <li key={it.key}>
            <span>
              Deleted <b>{plantsOf(it.plants.length)}</b>
            </span>
            <button
              type="button"
              aria-label={`Restore ${plantsOf(it.plants.length)}`}
              onClick={() => void pending.deletions.restore(it)}
            >
              Restore
            </button>
          </li>
        ))}
        {running.map((it) => (
          <li key={it.key}>
            <Description {...it} />
            <span class="seconds">{it.done.toLocaleString()} done</span>
          </li>
        ))}
        {all.map((it) => (
          <li key={it.key}>
            <Description {...it} />
            <span class="seconds" aria-hidden="true">
              in {Math.ceil(it.leftMs / 1000)} s
            </span>
            <button type="button" aria-label={undoLabel(it)} onClick={() => pending.undo(it)}>
              Undo
            </button>
          </li>
        ))}
      </ul>
      {all.length > 1 ? (
        <button type="button" onClick={() => pending.undoAll()}>
          Undo all {all.length}
        </button>
      ) : null}
    </section>
  )
}
