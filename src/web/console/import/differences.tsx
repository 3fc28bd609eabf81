import { Fragment } from 'preact'
import type { NewPlant } from '../../../client/client.ts'
import { csvCell } from '../../../formats/write.ts'
import { download } from '../controls/download.ts'
import { TextValue } from '../controls/text-value.tsx'
import { beginningOf, labelOf, TEXTS } from '../texts.ts'
import type { Difference } from './compare.ts'

const MAX_SHOWN = 20

function DifferenceItem({ before, after }: Difference) {
  return (
    <li>
      <b>{String(after.id)}</b>{' '}
      {TEXTS.filter((text) => before[text] !== after[text]).map((text, at) => (
        <Fragment key={text}>
          {at > 0 ? '; ' : ''}
          {labelOf(text)}: <TextValue text={beginningOf(before[text])} /> →{' '}
          <TextValue text={beginningOf(after[text])} />
        </Fragment>
      ))}
    </li>
  )
}

const COLUMNS = ['id', ...TEXTS.flatMap((text) => [`${text} stored`, `${text} in the file`])]

const cellsOf = (before: NewPlant, after: NewPlant): string[] => [
  String(after.id),
  ...TEXTS.flatMap((text) => [before[text] ?? '', after[text] ?? '']),
]

/** All differences as a file. */
const downloadDifferences = (all: readonly Difference[]): void => {
  const lines = [COLUMNS, ...all.map(({ before, after }) => cellsOf(before, after))]
  download(
    'differences.csv',
    new Blob(
      lines.map((cells) => `${cells.map(csvCell).join(',')}\n`),
      { type: 'text/csv' },
    ),
  )
}

/** The first stored plants that differ from the file, and all of them as a download. */
export function Differences({ all }: { readonly all: readonly Difference[] }) {
  const more = all.length - MAX_SHOWN
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so a keyboard must reach it. */}
      <ul class="refused differing" aria-label="Plants that differ" tabIndex={0}>
        {all.slice(0, MAX_SHOWN).map((difference) => (
          <DifferenceItem key={difference} {...difference} />
        ))}
        {more > 0 ? <li>And {more.toLocaleString()} more</li> : null}
      </ul>
      <button type="button" class="quiet inline" onClick={() => downloadDifferences(all)}>
        Save all differences as a file
      </button>
    </>
  )
}
