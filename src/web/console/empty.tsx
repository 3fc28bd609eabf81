import type { Console } from './console.ts'
import { Copy } from './copy.tsx'
import { addSamples } from './samples.tsx'
import { chooseFiles } from './toolbar.tsx'

const curlOf = (base: URL): string =>
  [
    `curl '${new URL('plants', base).href}'`,
    '-H "Authorization: Bearer $TOKEN"',
    "-H 'Content-Type: application/json'",
    `--data '{"id":1,"name":"Monstera deliciosa","tag":"aroid"}'`,
  ].join(' \\\n  ')

/** What an empty store offers. */
function Start({ console: all }: { readonly console: Console }) {
  const curl = curlOf(all.session.base)
  return (
    <>
      <p class="actions">
        <button type="button" class="primary" onClick={all.editor.add}>
          Add the first plant
        </button>
        <button type="button" class="primary" onClick={chooseFiles}>
          Import a file…
        </button>
      </p>
      <p>
        A file may be CSV, TSV, Excel (.xlsx), JSON or NDJSON. You can also drop it on this page.
      </p>
      <p>
        <button type="button" class="quiet" onClick={() => void addSamples(all)}>
          Add twelve sample plants to look around
        </button>
      </p>
      <details>
        <summary>From a terminal</summary>
        <pre>{curl}</pre>
        <Copy label="Copy the command" text={curl} />
      </details>
    </>
  )
}

/** Shown instead of rows when there are none. */
export function Empty({ console: all }: { readonly console: Console }) {
  const { list, session } = all
  const { id, name, tag } = list.query.value
  if (id !== undefined) {
    return (
      <div class="empty">
        <p>No plant has the ID {String(id)}.</p>
        <button type="button" onClick={() => void list.show({ name: String(id) })}>
          Search the names for {String(id)}
        </button>
      </div>
    )
  }
  if (name !== undefined || tag !== undefined) {
    return (
      <div class="empty">
        <p>
          No plant has{' '}
          {name === undefined ? null : (
            <>
              <bdi>{name}</bdi> in its name
            </>
          )}
          {name !== undefined && tag !== undefined ? ' and ' : null}
          {tag === undefined ? null : (
            <>
              the tag <bdi>{tag}</bdi>
            </>
          )}
          .
        </p>
      </div>
    )
  }
  return (
    <div class="empty">
      <h2>No plants yet</h2>
      {session.isReadOnly.value ? (
        <p>This token is read-only. Connect with a write token to add some.</p>
      ) : (
        <Start console={all} />
      )}
    </div>
  )
}
