import { type ComponentChildren, Fragment } from 'preact'
import type { Change, Plant } from '../../../client/client.ts'
import { OPTIONAL_TEXTS } from '../../../client/types.ts'
import { Clamped } from '../controls/clamped.tsx'
import { labelOf, TEXTS } from '../texts.ts'

const Time = ({ at }: { readonly at: Date }) => (
  <time dateTime={at.toISOString()} title={at.toLocaleString()}>
    {at.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' })}
  </time>
)

/** The time and the author of a change. */
export const Moment = ({ change: { at, token, request } }: { readonly change: Change }) => (
  <>
    <Time at={new Date(at)} /> by {token ?? request ?? 'a command'}
  </>
)

const Value = ({ text }: { readonly text: string | undefined }) =>
  text === undefined ? <i>none</i> : text === '' ? <i>empty</i> : <bdi>{text}</bdi>

/** A change, with a line for each field that differs. */
function differences({ before, after }: Change): ComponentChildren {
  if (after === null) return <p>Deleted</p>
  if (before === null) {
    return (
      <Clamped as="p">
        Created as <Value text={after.name} />
        {OPTIONAL_TEXTS.filter((text) => after[text] !== undefined).map((text) => (
          <Fragment key={text}>
            , {text} <Value text={after[text]} />
          </Fragment>
        ))}
      </Clamped>
    )
  }
  const fields = TEXTS.filter((field) => before[field] !== after[field])
  if (fields.length === 0) return <p>Saved without a change</p>
  return fields.map((field) => (
    <Clamped as="p" key={field}>
      {labelOf(field)}: <Value text={before[field]} /> → <Value text={after[field]} />
    </Clamped>
  ))
}

type NoHistoryProps = {
  readonly hasLog: boolean
  /** Time of the oldest recorded change, in milliseconds since 1970; 0: there is none. */
  readonly since: number | undefined
}

/** Explains an empty history. */
export function NoHistory({ hasLog, since }: NoHistoryProps) {
  if (!hasLog) {
    return (
      <p class="history hint">
        Changes are not recorded: plantstore runs without <code>--keep-changes</code>.
      </p>
    )
  }
  if (since === undefined) return null
  if (since === 0) return <p class="history hint">No change is recorded yet.</p>
  return (
    <p class="history hint">
      Not changed since <Time at={new Date(since)} />, when the record of changes begins.
    </p>
  )
}

type HistoryProps = {
  /** The newest first. */
  readonly changes: readonly Change[]
  readonly onRestore: ((version: Plant) => void) | null
}

/** The changes of a plant. Each earlier version can be put into the form again. */
export function History({ changes, onRestore }: HistoryProps) {
  if (changes.length === 0) return null
  return (
    <section class="history">
      <h3>History</h3>
      <ol aria-label="History">
        {changes.map((change, at) => (
          <li key={change.cursor}>
            {differences(change)}
            <p class="hint">
              <span>
                <Moment change={change} />
              </span>
              {at > 0 && change.after && onRestore ? (
                <button
                  type="button"
                  class="quiet inline"
                  onClick={() => change.after && onRestore(change.after)}
                >
                  Restore
                </button>
              ) : null}
            </p>
          </li>
        ))}
      </ol>
    </section>
  )
}
