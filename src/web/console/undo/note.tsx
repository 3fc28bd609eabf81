import type { Announcer } from '../announcer.ts'
import { countPlants } from '../counts.ts'
import type { Acts } from './acts.ts'

type NoteProps = { readonly acts: Acts; readonly announcer: Announcer }

/** The latest sentence, with a button to undo its action. */
export function Note({ acts, announcer }: NoteProps) {
  const { sentence, count, undoable } = announcer
  const progress = acts.progress.value
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
          <button type="button" aria-label={`Undo ${undoable.value}`} onClick={acts.undo}>
            Undo
          </button>
        ) : null}
      </div>
    </>
  )
}
