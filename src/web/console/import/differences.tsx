import { Fragment } from 'preact'
import { TextValue } from '../controls/text-value.tsx'
import { labelOf, TEXTS } from '../texts.ts'
import type { Difference } from './compare.ts'

const MAX_SHOWN = 1000

function DifferenceItem({ before, after }: Difference) {
  return (
    <li>
      <b>{String(after.id)}</b>{' '}
      {TEXTS.filter((text) => before[text] !== after[text]).map((text, at) => (
        <Fragment key={text}>
          {at > 0 ? '; ' : ''}
          {labelOf(text)}: <TextValue text={before[text]} /> → <TextValue text={after[text]} />
        </Fragment>
      ))}
    </li>
  )
}

/** The first stored plants that differ from the file. */
export function Differences({ all }: { readonly all: readonly Difference[] }) {
  const more = all.length - MAX_SHOWN
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so a keyboard must reach it.
    <ul class="refused differing" aria-label="Plants that differ" tabIndex={0}>
      {all.slice(0, MAX_SHOWN).map((difference) => (
        <DifferenceItem key={difference} {...difference} />
      ))}
      {more > 0 ? <li>And {more.toLocaleString()} more</li> : null}
    </ul>
  )
}
