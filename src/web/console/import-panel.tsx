import type { Import, Importer } from './importer.ts'

const SHOWN = 100

const count = (value: number, word: string): string => `${value.toLocaleString()} ${word}`

function summary({ created, known, refused, state, reason }: Import): string {
  const counts = [
    count(created, 'created'),
    ...(known > 0 ? [count(known, 'already stored')] : []),
    count(refused, 'refused'),
  ].join(', ')
  switch (state) {
    case 'running':
      return counts
    case 'done':
      return `Done: ${counts}`
    case 'stopped':
      return `Stopped: ${counts}`
    case 'failed':
      return `Failed: ${reason}; ${counts}`
  }
}

type ImportPanelProps = { readonly importer: Importer; readonly isWaiting: boolean }

/** The progress of an import: a bar, the counts, and the refused lines. */
export function ImportPanel({ importer, isWaiting }: ImportPanelProps) {
  const it = importer.current.value
  if (!it) return null
  const isRunning = it.state === 'running'
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
          <div class="deeds">
            {it.state === 'failed' || it.state === 'stopped' ? (
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
      {importer.earlier.value.length > 0 ? (
        <ul class="refused" aria-label="Files before it">
          {importer.earlier.value.map((file) => (
            <li key={file}>
              <b class={file.state === 'failed' || file.refused > 0 ? 'bad' : 'good'}>
                {file.name}
              </b>{' '}
              {summary(file)}
            </li>
          ))}
        </ul>
      ) : null}
      <progress
        aria-label={`Import of ${it.name}`}
        max={Math.max(it.bytes, 1)}
        value={it.state === 'done' ? Math.max(it.bytes, 1) : it.bytesRead}
      />
      <p role="status" class={it.state === 'failed' ? 'error' : undefined}>
        {summary(it)}
        {isRunning && isWaiting ? '. Waiting; it resumes by itself.' : null}
      </p>
      {it.notice === undefined ? null : <p>{it.notice}</p>}
      {it.lines.length > 0 ? (
        <>
          <h3 id="refused">Refused lines</h3>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so a keyboard must reach it. */}
          <ul class="refused" aria-labelledby="refused" tabIndex={0}>
            {it.lines.slice(0, SHOWN).map(({ line, problem }) => (
              <li key={line}>
                <b>line {line}</b> {problem}
              </li>
            ))}
          </ul>
          {it.refused > SHOWN ? <p>{count(it.refused - SHOWN, 'more refused')}</p> : null}
        </>
      ) : null}
    </section>
  )
}
