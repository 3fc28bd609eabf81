import type { Exporter } from './exporter.ts'
import type { Finder } from './finder.ts'
import { hidesMenu, Menu } from './menu.tsx'

type ChipProps = { readonly label: string; readonly value: string; readonly onRemove: () => void }

function Chip({ label, value, onRemove }: ChipProps) {
  return (
    <li class="term">
      <span>
        {label} <bdi>{value === '' ? '(empty)' : value}</bdi>
      </span>
      <button
        type="button"
        class="quiet"
        aria-label={`Remove ${label} ${value}`}
        title="Remove"
        onClick={onRemove}
      >
        ×
      </button>
    </li>
  )
}

/** The search box, what is looked for as chips, and what is wrong with what was typed. */
function Search({ finder }: { readonly finder: Finder }) {
  const error = finder.error.value
  const { id, name, tag } = finder.query.value
  const isLimited = id !== undefined || name !== undefined || tag !== undefined
  return (
    <search class="finders">
      <form
        class="find"
        onSubmit={(event) => {
          event.preventDefault()
          void finder.search()
        }}
      >
        <input
          id="search"
          type="search"
          dir="auto"
          aria-label="Search"
          placeholder="Search: a name, an id or tag:aroid"
          autoComplete="off"
          autoCapitalize="none"
          spellcheck={false}
          enterkeyhint="search"
          value={finder.text.value}
          aria-invalid={error !== null}
          aria-describedby={error ? 'search-error' : undefined}
          onInput={(event) => {
            finder.text.value = event.currentTarget.value
            finder.error.value = null
          }}
        />
      </form>
      {error ? (
        <p class="error" id="search-error" role="alert">
          {error}
        </p>
      ) : null}
      {isLimited ? (
        <ul class="terms" aria-label="Shown are plants with">
          {id === undefined ? null : (
            <Chip label="ID" value={String(id)} onRemove={() => void finder.drop('id')} />
          )}
          {name === undefined ? null : (
            <Chip label="Name" value={name} onRemove={() => void finder.drop('name')} />
          )}
          {tag === undefined ? null : (
            <Chip label="Tag" value={tag} onRemove={() => void finder.drop('tag')} />
          )}
          <li>
            <button type="button" class="quiet" onClick={() => void finder.show({})}>
              Show all plants
            </button>
          </li>
        </ul>
      ) : null}
    </search>
  )
}

type ToolbarProps = {
  readonly finder: Finder
  readonly exporter: Exporter
  readonly isReadOnly: boolean
  readonly onAdd: () => void
  readonly onFiles: (files: Iterable<File>) => void
}

const FILES = 'files'

/** Asks for files to import. */
export const chooseFiles = (): void => document.getElementById(FILES)?.click()

/** The search box, and the buttons to add, import and export; on a phone, a menu has all but the first. */
export function Toolbar({ finder, exporter, isReadOnly, onAdd, onFiles }: ToolbarProps) {
  const written = exporter.written.value
  const isAll = Object.keys(finder.query.value).length === 0
  const exported = isAll ? 'all plants' : 'only the plants that are shown'
  return (
    <div class="toolbar">
      <Search finder={finder} />
      <div class="deeds">
        {isReadOnly ? null : (
          <>
            <button type="button" class="primary" onClick={onAdd}>
              Add plant
            </button>
            <button type="button" class="wide" onClick={chooseFiles}>
              Import…
            </button>
            <input
              id={FILES}
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
        {written === null ? null : (
          <button type="button" onClick={exporter.stop}>
            Stop the export ({written.toLocaleString()})
          </button>
        )}
        <Menu
          label={
            <>
              <span class="wide">Export</span>
              <span class="narrow">More</span>
            </>
          }
        >
          {isReadOnly ? null : (
            <button type="button" class="quiet narrow" {...hidesMenu} onClick={chooseFiles}>
              Import…
            </button>
          )}
          {(
            [
              ['ndjson', 'as NDJSON'],
              ['csv', 'as CSV'],
              ['inert', 'as CSV without formulas'],
            ] as const
          ).map(([format, how]) => (
            <button
              key={format}
              type="button"
              class="quiet"
              aria-disabled={written !== null}
              {...hidesMenu}
              onClick={() => void exporter.start(format, finder.query.value)}
            >
              Export {exported} {how}
            </button>
          ))}
          <button type="button" class="quiet narrow" {...hidesMenu} onClick={finder.reload}>
            Reload
          </button>
        </Menu>
        <button type="button" class="quiet wide" onClick={finder.reload}>
          Reload
        </button>
      </div>
    </div>
  )
}
