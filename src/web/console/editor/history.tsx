import { useSignal } from '@preact/signals'
import { type ComponentChildren, Fragment } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { Change, Plant } from '../../../client/client.ts'
import { OPTIONAL_TEXTS } from '../../../client/contract.ts'
import { Clamped } from '../controls/clamped.tsx'
import { TextValue } from '../controls/text-value.tsx'
import { hasSameTexts, labelOf, TEXTS } from '../texts.ts'
import { authorOf } from './author.ts'

/** A time to the minute. */
export const timeOf = (at: Date): string =>
  at.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' })

const Time = ({ at }: { readonly at: Date }) => (
  <time dateTime={at.toISOString()} title={at.toLocaleString()}>
    {timeOf(at)}
  </time>
)

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
      <Clamped as="p">
        Created as <TextValue text={after.name} />
        {OPTIONAL_TEXTS.filter((text) => after[text] !== undefined).map((text) => (
          <Fragment key={text}>
            , {text} <TextValue text={after[text]} />
          </Fragment>
        ))}
      </Clamped>
    )
  }
  const fields = TEXTS.filter((field) => before[field] !== after[field])
  if (fields.length === 0) return <p>Saved without a change</p>
  return fields.map((field) => (
    <Clamped as="p" key={field}>
      {labelOf(field)}: <TextValue text={before[field]} /> → <TextValue text={after[field]} />
    </Clamped>
  ))
}

type NoHistoryProps = {
  readonly hasLog: boolean
  /** Time of the oldest recorded change; null: there is none, undefined: it is unknown. */
  readonly since: string | null | undefined
}

/** Explains an empty history. */
export function NoHistory({ hasLog, since }: NoHistoryProps) {
  if (!hasLog) {
    return (
      <p class="history hint">
        Changes are not recorded: plantstore runs without <code>--keep-changes</code>. With it, this
        page has a history, and the table shows what others do.
      </p>
    )
  }
  if (since === undefined) return null
  if (since === null) return <p class="history hint">No change is recorded yet.</p>
  return (
    <p class="history hint">
      Not changed since <Time at={new Date(since)} />, when the record of changes begins.
    </p>
  )
}

type VersionProps = {
  readonly current: Plant
  readonly version: Plant
  readonly onRestore: (version: Plant) => void
}

/** Shows what restoring a version would change, with a button to do so. */
function RestoreVersion({ current, version, onRestore }: VersionProps) {
  const isAsking = useSignal(false)
  const box = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => box.current?.scrollIntoView({ block: 'center' }), [isAsking.value])
  return (
    <>
      <button
        type="button"
        class="quiet inline"
        aria-expanded={isAsking.value}
        onClick={() => {
          isAsking.value = !isAsking.value
        }}
      >
        Restore…
      </button>
      {isAsking.value ? (
        <div class="conflict" ref={box}>
          <FieldChanges before={current} after={version} />
          <div class="actions">
            <button type="button" class="primary" onClick={() => onRestore(version)}>
              Restore this version
            </button>
          </div>
        </div>
      ) : null}
    </>
  )
}

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
                <RestoreVersion current={current} version={change.after} onRestore={onRestore} />
              ) : null}
            </div>
          </li>
        ))}
      </ol>
    </section>
  )
}
