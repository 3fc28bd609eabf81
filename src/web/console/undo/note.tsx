import type { Announcer } from '../announcer.ts'
import { countPlants } from '../counts.ts'
import type { UndoHistory } from './undo-history.ts'

type NoteProps = { readonly undoHistory: UndoHistory; readonly announcer: Announcer }

/** The latest sentence, with a button to undo its action. */
export function Note({ undoHistory, announcer }: NoteProps) {
  const { sentence, count, undoable } = announcer
  const progress = undoHistory.progress.value
  return (
    <>
      {progress && progress.of > 1 ? (
        <p class="said">
          Changing plants: {progress.count.toLocaleString()} of {countPlants(progress.of)}
        </p>
      ) : null}
      <div class="said">
        <p role="status">
          {sentence.value === '' ? null : <span key={count.value}>{sentence}</span>}
        </p>
        {sentence.value !== '' && undoable.value !== null ? (
          <button type="button" aria-label={`Undo ${undoable.value}`} onClick={undoHistory.undo}>
            Undo
          </button>
        ) : null}
      </div>
    </>
  )
}
