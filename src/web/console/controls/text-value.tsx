import { beginningOf } from '../texts.ts'

/** The beginning of a text of a plant, or that there is none. */
export const TextValue = ({ text }: { readonly text: string | undefined }) =>
  text === undefined ? <i>none</i> : text === '' ? <i>empty</i> : <bdi>{beginningOf(text)}</bdi>
