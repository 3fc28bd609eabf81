import { sentenceOf } from '../../sentence.ts'
import { download } from '../controls/download.ts'
import { countRows } from '../counts.ts'
import type { Importer } from './importer.ts'
import type { RefusedGroup } from './refused-groups.ts'
import type { Import } from './state.ts'

/** The outcome in numbers, worded like the command. */
function countsOf(one: Import): string {
  const { rows, created, skipped, replaced, refused, emptyNames, unreadReason } = one
  const skippedText = skipped > 0 ? `skipped ${skipped.toLocaleString()} (already stored), ` : ''
  const replacedText = replaced > 0 ? `replaced ${replaced.toLocaleString()}, ` : ''
  const counts = `created ${created.toLocaleString()}, ${skippedText}${replacedText}refused ${refused.toLocaleString()}`
  const empty =
    emptyNames > 0
      ? `; ${emptyNames.toLocaleString()} ${emptyNames === 1 ? 'has' : 'have'} an empty name`
      : ''
  const rest = unreadReason === null ? '' : `; not read: ${unreadReason}`
  return `${counts}; ${countRows(rows)} read${empty}${rest}`
}

function summaryOf(one: Import): string {
  switch (one.state) {
    case 'done':
      return `Done: ${countsOf(one)}`
    case 'stopped':
      return `Stopped: ${countsOf(one)}`
    case 'failed':
      if (one.reason === null && one.rows === 0) return `Nothing was imported: ${one.unreadReason}`
      return `Failed: ${one.reason ?? countsOf(one)}`
    case 'running':
      return sentenceOf(countsOf(one))
    default:
      return 'Reading the file…'
  }
}

const isBad = ({ state, refused }: Import): boolean =>
  state === 'failed' || state === 'stopped' || refused > 0

const nameOfRefused = (name: string): string =>
  `${name.replace(/\.[^.]*$/, '')}-refused.${/\.(json|ndjson|jsonl)$/i.test(name) ? 'ndjson' : 'csv'}`

function EarlierFiles({ imports }: { readonly imports: readonly Import[] }) {
  if (imports.length === 0) return null
  return (
    <ul class="refused" aria-label="Files before it">
      {imports.map((one) => (
        <li key={one}>
          <b class={isBad(one) ? 'bad' : 'good'}>{one.file.name}</b> {summaryOf(one)}
        </li>
      ))}
    </ul>
  )
}

/** The first items, and an ellipsis if there are more. */
const listFirst = (items: readonly (string | number)[], count: number): string =>
  items.length < count ? `${items.join(', ')}, …` : items.join(', ')

function RefusedGroupItem({ group }: { readonly group: RefusedGroup }) {
  const { problem, cause, count, examples, lines } = group
  if (count === 1) {
    return (
      <li>
        <b>Line {lines[0]}</b> {problem}
      </li>
    )
  }
  return (
    <li>
      <b>{countRows(count)}:</b> {cause}
      {examples.length > 0 ? ` (${listFirst(examples, count)})` : null}; lines{' '}
      {listFirst(lines, count)}
    </li>
  )
}

function RefusedRows({
  of: { file, groups, refused, refusedRows, state },
}: {
  readonly of: Import
}) {
  if (groups.length === 0) return null
  const more = refused - groups.reduce((sum, { count }) => sum + count, 0)
  return (
    <>
      <div class="panel-head">
        <h3 id="refused">Refused rows</h3>
        {refusedRows && state !== 'running' ? (
          <button type="button" onClick={() => download(nameOfRefused(file.name), refusedRows())}>
            Save the refused rows
          </button>
        ) : null}
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so a keyboard must reach it. */}
      <ul class="refused" aria-labelledby="refused" tabIndex={0}>
        {groups.map((group) => (
          <RefusedGroupItem key={group.cause} group={group} />
        ))}
      </ul>
      {more > 0 ? <p>{more.toLocaleString()} more refused</p> : null}
    </>
  )
}

type ImportPanelProps = { readonly importer: Importer; readonly isWaiting: boolean }

/** The questions about a file, then its progress, counts and refused rows. */
export function ImportPanel({ importer, isWaiting }: ImportPanelProps) {
  const { value: current } = importer.current
  if (!current) return null
  const { file, form, state, reason, bytesRead, notices } = current
  if (form) return form
  const isRunning = state === 'running' || state === 'opening'
  const size = Math.max(file.size, 1)
  return (
    <section class="panel import" aria-label="Import">
      <div class="panel-head">
        <h2>
          Import of <bdi>{file.name}</bdi>
        </h2>
        {isRunning ? (
          <button type="button" onClick={importer.stop}>
            Stop
          </button>
        ) : (
          <div class="buttons">
            {importer.canRetry() ? (
              <button type="button" onClick={() => void importer.retry()}>
                Import it again
              </button>
            ) : null}
            <button type="button" onClick={importer.dismiss}>
              Close
            </button>
          </div>
        )}
      </div>
      <EarlierFiles imports={importer.imports.value.slice(0, -1)} />
      {reason === null ? (
        <progress
          aria-label={`Import of ${file.name}`}
          max={size}
          value={state === 'done' ? size : bytesRead}
        />
      ) : null}
      <p role="status" class={state === 'failed' ? 'error' : undefined}>
        {summaryOf(current)}
        {isRunning && isWaiting ? '. Waiting; it resumes by itself.' : null}
      </p>
      {notices.map((notice) => (
        <p key={notice}>{sentenceOf(notice)}</p>
      ))}
      <RefusedRows of={current} />
    </section>
  )
}
