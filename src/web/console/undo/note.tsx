import { countPlants } from '../counts.ts'
import type { Acts } from './acts.ts'

type NoteProps = {
  readonly acts: Acts
  /** The latest sentence, and its number: the same sentence twice is spoken twice. */
  readonly sentence: string
  readonly count: number
}

/** The latest sentence, with a button to undo its action. */
export function Note({ acts, sentence, count }: NoteProps) {
  const latestNote = acts.latestNote.value
  const progress = acts.progress.value
  return (
    <>
      {progress && progress.of > 1 ? (
        <p class="said">
          Changing plants: {progress.count.toLocaleString()} of {countPlants(progress.of)}
        </p>
      ) : null}
      <div class="said">
        <p role="status">{sentence === '' ? null : <span key={count}>{sentence}</span>}</p>
        {sentence !== '' && latestNote?.sentence === sentence ? (
          <button type="button" aria-label={`Undo ${latestNote.act.what}`} onClick={acts.undo}>
            Undo
          </button>
        ) : null}
      </div>
    </>
  )
}
