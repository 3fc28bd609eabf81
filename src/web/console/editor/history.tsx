import { type ComponentChildren, Fragment } from 'preact'
import type { Change, Plant } from '../../../client/client.ts'
import { OPTIONAL_TEXTS } from '../../../client/contract.ts'
import { TextValue } from '../controls/text-value.tsx'
import { Time } from '../controls/time.tsx'
import { hasSameTexts, labelOf, TEXTS } from '../texts.ts'
import { authorOf } from './author.ts'

/** The time and the author of a change. */
export const TimeAndAuthor = ({ change }: { readonly change: Change }) => (
  <>
    <Time at={new Date(change.at)} /> by {authorOf(change)}
  </>
)

/** A line for each field that a change affects. */
export function FieldChanges({
  before,
  after,
}: Pick<Change, 'before' | 'after'>): ComponentChildren {
  if (after === null) return <p>Deleted</p>
  if (before === null) {
    return (
      <p>
        Created as <TextValue text={after.name} />
        {OPTIONAL_TEXTS.filter((text) => after[text] !== undefined).map((text) => (
          <Fragment key={text}>
            , {text} <TextValue text={after[text]} />
          </Fragment>
        ))}
      </p>
    )
  }
  const fields = TEXTS.filter((field) => before[field] !== after[field])
  if (fields.length === 0) return <p>Saved without a change</p>
  return fields.map((field) => (
    <p key={field}>
      {labelOf(field)}: <TextValue text={before[field]} /> → <TextValue text={after[field]} />
    </p>
  ))
}

/** Explains an empty history. */
export const NoHistory = ({ hasLog }: { readonly hasLog: boolean }) => (
  <p class="history hint">
    {hasLog ? (
      'No change of this plant is recorded.'
    ) : (
      <>
        Changes are not recorded: plantstore runs without <code>--keep-changes</code>. With it, this
        page has a history, and the table shows what others do.
      </>
    )}
  </p>
)

type HistoryProps = {
  /** The newest first. */
  readonly changes: readonly Change[]
  /** The plant as it is stored. */
  readonly current: Plant
  readonly onRestore: ((version: Plant) => void) | null
}

/** The changes of a plant. Each version that differs from the current one can be restored. */
export function History({ changes, current, onRestore }: HistoryProps) {
  if (changes.length === 0) return null
  return (
    <section class="history">
      <h3>History</h3>
      <ol aria-label="History">
        {changes.map((change) => (
          <li key={change.cursor}>
            <FieldChanges {...change} />
            <div class="hint">
              <p>
                <TimeAndAuthor change={change} />
              </p>
              {change.after && onRestore && !hasSameTexts(change.after, current) ? (
                <button
                  type="button"
                  class="quiet inline"
                  onClick={() => change.after && onRestore(change.after)}
                >
                  Restore this version
                </button>
              ) : null}
            </div>
          </li>
        ))}
      </ol>
    </section>
  )
}
