import { useRef } from 'preact/hooks'
import type { Exporter } from './exporter.ts'
import type { Finder } from './finder.ts'

type FindProps = {
  readonly label: string
  readonly name: string
  readonly text: Finder['id']
  readonly button: string
  readonly error?: string | null
  readonly onSubmit: () => Promise<void>
}

function Find({ label, name, text, button, error, onSubmit }: FindProps) {
  return (
    <form
      class="find"
      onSubmit={(event) => {
        event.preventDefault()
        void onSubmit()
      }}
    >
      <label for={name}>{label}</label>
      <input
        id={name}
        type="search"
        dir="auto"
        autoComplete="off"
        autoCapitalize="none"
        spellcheck={false}
        enterkeyhint="search"
        value={text.value}
        aria-invalid={Boolean(error)}
        aria-describedby={error ? `${name}-error` : undefined}
        onInput={(event) => {
          text.value = event.currentTarget.value
        }}
      />
      <button type="submit">{button}</button>
      {error ? (
        <p class="error" id={`${name}-error`} role="alert">
          {error}
        </p>
      ) : null}
    </form>
  )
}

type ToolbarProps = {
  readonly finder: Finder
  readonly exporter: Exporter
  readonly isReadOnly: boolean
  readonly onAdd: () => void
  readonly onFiles: (files: Iterable<File>) => void
}

/** The fields to find and filter, and the buttons to add, import and export. */
export function Toolbar({ finder, exporter, isReadOnly, onAdd, onFiles }: ToolbarProps) {
  const file = useRef<HTMLInputElement>(null)
  const written = exporter.written.value
  const isLimited = finder.isOne.value || finder.shownTag.value !== undefined
  const exported = finder.shownTag.value === undefined ? 'all plants' : 'the plants with this tag'
  return (
    <div class="toolbar">
      <search class="finders">
        <Find
          label="Find ID"
          name="find-id"
          text={finder.id}
          button="Find"
          error={finder.error.value}
          onSubmit={finder.findId}
        />
        <Find
          label="Filter by tag"
          name="filter-tag"
          text={finder.tag}
          button="Filter"
          onSubmit={finder.filterTag}
        />
        {isLimited ? (
          <button type="button" class="quiet" onClick={() => void finder.showAll()}>
            Show all plants
          </button>
        ) : null}
      </search>
      <div class="deeds">
        {isReadOnly ? null : (
          <>
            <button type="button" class="primary" onClick={onAdd}>
              Add plant
            </button>
            <button type="button" onClick={() => file.current?.click()}>
              Import…
            </button>
            <input
              ref={file}
              class="visually-hidden"
              type="file"
              aria-label="File to import, NDJSON or CSV"
              accept=".ndjson,.jsonl,.csv,.tsv"
              multiple
              tabIndex={-1}
              onChange={(event) => {
                onFiles([...(event.currentTarget.files ?? [])])
                event.currentTarget.value = ''
              }}
            />
          </>
        )}
        {written === null ? (
          (['ndjson', 'csv'] as const).map((format) => (
            <button
              key={format}
              type="button"
              title={`Export ${exported}`}
              onClick={() => void exporter.start(format, finder.shownTag.value)}
            >
              Export {format.toUpperCase()}
            </button>
          ))
        ) : (
          <button type="button" onClick={exporter.stop}>
            Stop the export ({written.toLocaleString()})
          </button>
        )}
        <button type="button" class="quiet" onClick={() => void finder.reload()}>
          Reload
        </button>
      </div>
    </div>
  )
}
