import type { Deletions } from './deletions.ts'

/** The plants that are about to be deleted, each with an Undo button. */
export function UndoList({ deletions }: { readonly deletions: Deletions }) {
  const all = deletions.waiting.value
  if (all.length === 0) return null
  const pause = (isPaused: boolean) => () => {
    deletions.isPaused.value = isPaused
  }
  return (
    <section
      class="undo"
      aria-label="About to be deleted"
      onPointerEnter={pause(true)}
      onPointerLeave={pause(false)}
      onFocusIn={pause(true)}
      onFocusOut={pause(false)}
    >
      <ul>
        {all.map(({ plant, leftMs }) => (
          <li key={String(plant.id)}>
            <span>
              Deleting <b>{String(plant.id)}</b> <bdi>{plant.name}</bdi>
            </span>
            <span class="seconds" aria-hidden="true">
              in {Math.ceil(leftMs / 1000)} s
            </span>
            <button
              type="button"
              aria-label={`Undo the deletion of plant ${plant.id}`}
              onClick={() => deletions.undo(plant.id)}
            >
              Undo
            </button>
          </li>
        ))}
      </ul>
      {all.length > 1 ? (
        <button type="button" onClick={() => deletions.undoAll()}>
          Undo all {all.length}
        </button>
      ) : null}
    </section>
  )
}
