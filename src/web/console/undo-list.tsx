import type { Pending, PendingChanges } from './pending.ts'
import { plantsOf } from './pending.ts'

/** What is done to the plants. */
function Deed({ deed: { tag }, plants }: Pending) {
  const [first, another] = plants
  const which = another ? (
    <b>{plantsOf(plants.length)}</b>
  ) : (
    <>
      <b>{String(first?.id)}</b> <bdi>{first?.name}</bdi>
    </>
  )
  if (tag === undefined) return <span>Deleting {which}</span>
  if (tag === '') return <span>Removing the tag of {which}</span>
  return (
    <span>
      Tagging {which} <bdi>“{tag}”</bdi>
    </span>
  )
}

function undoLabel({ deed, plants }: Pending): string {
  const [first, another] = plants
  const which = another ? plantsOf(plants.length) : `plant ${first?.id}`
  return `Undo the ${deed.tag === undefined ? 'deletion' : 'tag'} of ${which}`
}

/** What is about to be done, with an Undo button each, and how far the rest is. */
export function UndoList({ pending }: { readonly pending: PendingChanges }) {
  const all = pending.waiting.value.filter(({ items }) => items !== null)
  const running = pending.running.value.filter(({ plants }) => plants.length > 1)
  if (all.length + running.length === 0) return null
  const pause = (isPaused: boolean) => () => {
    pending.isPaused.value = isPaused
  }
  return (
    <section
      class="undo"
      aria-label="About to be changed"
      // Not enter: it may appear under a pointer that rests.
      onPointerMove={pause(true)}
      onPointerLeave={pause(false)}
      onFocusIn={pause(true)}
      onFocusOut={pause(false)}
    >
      <ul>
        {running.map((it) => (
          <li key={it.key}>
            <Deed {...it} />
            <span class="seconds">{it.done.toLocaleString()} done</span>
          </li>
        ))}
        {all.map((it) => (
          <li key={it.key}>
            <Deed {...it} />
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
