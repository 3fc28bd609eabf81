import { sentenceOf } from '../../sentence.ts'
import { download } from '../controls/download.ts'
import type { Importer } from './importer.ts'
import type { RefusedGroup } from './refused-groups.ts'
import type { Import } from './state.ts'

const countRows = (count: number): string =>
  count === 1 ? '1 row' : `${count.toLocaleString()} rows`

/** The outcome in numbers, worded like the command. */
function countsOf(file: Import): string {
  const { rows, created, skipped, replaced, refused, emptyNames, unreadReason } = file
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

function summaryOf(file: Import): string {
  switch (file.state) {
    case 'done':
      return `Done: ${countsOf(file)}`
    case 'stopped':
      return `Stopped: ${countsOf(file)}`
    case 'failed':
      if (file.reason === null && file.rows === 0)
        return `Nothing was imported: ${file.unreadReason}`
      return `Failed: ${file.reason ?? countsOf(file)}`
    case 'running':
      return sentenceOf(countsOf(file))
    default:
      return file.comparedRows === 0
        ? 'Reading the file…'
        : `Comparing with the stored plants… ${countRows(file.comparedRows)} so far`
  }
}

const isBad = ({ state, refused }: Import): boolean =>
  state === 'failed' || state === 'stopped' || refused > 0

const nameOfRefused = (name: string): string =>
  `${name.replace(/\.[^.]*$/, '')}-refused.${/\.(json|ndjson|jsonl)$/i.test(name) ? 'ndjson' : 'csv'}`

function EarlierFiles({ files }: { readonly files: readonly Import[] }) {
  if (files.length === 0) return null
  return (
    <ul class="refused" aria-label="Files before it">
      {files.map((file) => (
        <li key={file}>
          <b class={isBad(file) ? 'bad' : 'good'}>{file.name}</b> {summaryOf(file)}
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
  of: { name, groups, refused, refusedRows, state },
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
          <button type="button" onClick={() => download(nameOfRefused(name), refusedRows())}>
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
  const file = importer.current.value
  if (!file) return null
  if (file.state === 'asking') return importer.form.value
  const isRunning = file.state === 'running' || file.state === 'opening'
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
      <EarlierFiles files={importer.earlier.value} />
      {file.reason === null ? (
        <progress
          aria-label={`Import of ${file.name}`}
          max={Math.max(file.bytes, 1)}
          value={file.state === 'done' ? Math.max(file.bytes, 1) : file.bytesRead}
        />
      ) : null}
      <p role="status" class={file.state === 'failed' ? 'error' : undefined}>
        {summaryOf(file)}
        {isRunning && isWaiting ? '. Waiting; it resumes by itself.' : null}
      </p>
      {file.notices.map((notice) => (
        <p key={notice}>{sentenceOf(notice)}</p>
      ))}
      <RefusedRows of={file} />
    </section>
  )
}
