import { download } from '../controls/download.ts'
import type { Importer } from './importer.ts'
import type { Import } from './state.ts'

const SHOWN = 100

const rowsOf = (count: number): string => (count === 1 ? '1 row' : `${count.toLocaleString()} rows`)

/** The outcome in numbers, worded like the command. */
export function countsOf({ rows, created, known, replaced, refused, notRead }: Import): string {
  const skipped = known > 0 ? `skipped ${known.toLocaleString()} (already stored), ` : ''
  const changed = replaced > 0 ? `replaced ${replaced.toLocaleString()}, ` : ''
  const counts = `created ${created.toLocaleString()}, ${skipped}${changed}refused ${refused.toLocaleString()}`
  const rest = notRead === null ? '' : `; not read: ${notRead}`
  return `${counts}; ${rowsOf(rows)} read${rest}`
}

function summary(it: Import): string {
  switch (it.state) {
    case 'done':
      return `Done: ${countsOf(it)}`
    case 'stopped':
      return `Stopped: ${countsOf(it)}`
    case 'failed':
      return `Failed: ${it.reason ?? countsOf(it)}`
    case 'running':
      return countsOf(it)
    default:
      return 'Reading the file…'
  }
}

const isBad = ({ state, refused }: Import): boolean =>
  state === 'failed' || state === 'stopped' || refused > 0

const nameOfRefused = (name: string): string =>
  `${name.replace(/\.[^.]*$/, '')}-refused.${/\.(json|ndjson|jsonl)$/i.test(name) ? 'ndjson' : 'csv'}`

function Earlier({ files }: { readonly files: readonly Import[] }) {
  if (files.length === 0) return null
  return (
    <ul class="refused" aria-label="Files before it">
      {files.map((file) => (
        <li key={file}>
          <b class={isBad(file) ? 'bad' : 'good'}>{file.name}</b> {summary(file)}
        </li>
      ))}
    </ul>
  )
}

function RefusedRows({
  of: { name, lines, refused, refusedRows, state },
}: {
  readonly of: Import
}) {
  if (lines.length === 0) return null
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
        {lines.slice(0, SHOWN).map(({ line, problem }) => (
          <li key={line}>
            <b>line {line}</b> {problem}
          </li>
        ))}
      </ul>
      {refused > SHOWN ? <p>{(refused - SHOWN).toLocaleString()} more refused</p> : null}
    </>
  )
}

type ImportPanelProps = { readonly importer: Importer; readonly isWaiting: boolean }

/** The questions about a file, then its progress, counts and refused rows. */
export function ImportPanel({ importer, isWaiting }: ImportPanelProps) {
  const it = importer.current.value
  if (!it) return null
  if (it.state === 'asking') return importer.form.value
  const isRunning = it.state === 'running' || it.state === 'opening'
  return (
    <section class="panel import" aria-label="Import">
      <div class="panel-head">
        <h2>
          Import of <bdi>{it.name}</bdi>
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
      <Earlier files={importer.earlier.value} />
      {it.reason === null ? (
        <progress
          aria-label={`Import of ${it.name}`}
          max={Math.max(it.bytes, 1)}
          value={it.state === 'done' ? Math.max(it.bytes, 1) : it.bytesRead}
        />
      ) : null}
      <p role="status" class={it.state === 'failed' ? 'error' : undefined}>
        {summary(it)}
        {isRunning && isWaiting ? '. Waiting; it resumes by itself.' : null}
      </p>
      {it.notices.map((notice) => (
        <p key={notice}>{notice}</p>
      ))}
      <RefusedRows of={it} />
    </section>
  )
}
