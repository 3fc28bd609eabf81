import { plantsOf } from '../counts.ts'
import type { Acts } from './acts.ts'

type NoteProps = {
  readonly acts: Acts
  /** The latest sentence, and its number: the same sentence twice is spoken twice. */
  readonly sentence: string
  readonly count: number
}

/** The latest sentence, with a button to undo its action. */
export function Note({ acts, sentence, count }: NoteProps) {
  const noted = acts.noted.value
  const running = acts.running.value
  return (
    <>
      {running && running.of > 1 ? (
        <p class="said">
          Changing plants: {running.count.toLocaleString()} of {plantsOf(running.of)}
        </p>
      ) : null}
      <div class="said">
        <p role="status">{sentence === '' ? null : <span key={count}>{sentence}</span>}</p>
        {sentence !== '' && noted?.sentence === sentence ? (
          <button type="button" aria-label={`Undo ${noted.act.what}`} onClick={acts.undo}>
            Undo
          </button>
        ) : null}
      </div>
    </>
  )
}
