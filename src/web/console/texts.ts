// The texts of a plant, in the order of forms.

import type { Plant } from '../../client/client.ts'
import { OPTIONAL_TEXTS } from '../../client/contract.ts'

export const TEXTS = ['name', ...OPTIONAL_TEXTS] as const
export type TextName = (typeof TEXTS)[number]

/** The texts besides name and tag, which have their own places on the page. */
export const OTHER_TEXTS: readonly TextName[] = OPTIONAL_TEXTS.filter((name) => name !== 'tag')

/** A value for each text. */
export const ofTexts = <T>(make: (name: TextName) => T) =>
  Object.fromEntries(TEXTS.map((name) => [name, make(name)])) as Record<TextName, T>

/** The label of a text: its name with a capital letter. */
export const labelOf = (name: TextName): string => name.charAt(0).toUpperCase() + name.slice(1)

const MAX_SHOWN = 1000

/** The beginning of a text, as browsers need seconds to show a line of some megabytes. */
export const beginningOf = <T extends string | undefined>(text: T): T | string =>
  text && text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text

/** True if two plants have the same texts. */
export const hasSameTexts = (a: Plant, b: Plant): boolean =>
  TEXTS.every((name) => a[name] === b[name])

/** A text without trailing line ends. */
export function withoutLastLineEnds(text: string): string {
  let end = text.length
  while (end > 0 && '\r\n'.includes(text[end - 1] ?? '')) end -= 1
  return text.slice(0, end)
}
