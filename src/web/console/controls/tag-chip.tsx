import type { ButtonHTMLAttributes } from 'preact'
import { beginningOf } from '../texts.ts'

type Props = ButtonHTMLAttributes & { readonly tag: string }

/** The tag of a plant, as a button that shows all plants with it. */
export const TagChip = ({ tag, ...attributes }: Props) => (
  <button
    type="button"
    class="chip"
    dir="auto"
    title="Show only plants with this tag"
    {...attributes}
  >
    {tag === '' ? '(empty)' : beginningOf(tag)}
  </button>
)
