import { labelOf } from '../texts.ts'
import type { Edit } from './edits.ts'

const Text = ({ text }: { readonly text: string | undefined }) =>
  text ? <bdi>{text}</bdi> : <i>none</i>

type EditNoteProps = { readonly edit: Edit; readonly onUndo: () => void }

/** The change of a cell, which can be undone. */
export function EditNote({ edit: { id, text, before, after }, onUndo }: EditNoteProps) {
  return (
    <section class="undo" aria-label="Latest edit">
      <ul>
        <li>
          <span>
            <b>{String(id)}</b> {labelOf(text)}: <Text text={before} /> → <Text text={after} />
          </span>
          <button type="button" aria-label={`Undo the ${text} of plant ${id}`} onClick={onUndo}>
            Undo
          </button>
        </li>
      </ul>
    </section>
  )
}
