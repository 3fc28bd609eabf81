import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { Alert } from '../controls/alert.tsx'
import { hideAttributes, Menu } from '../controls/menu.tsx'
import type { PlantList } from '../list/plant-list.ts'
import type { Selection } from '../list/selection.ts'
import { isEverything, parseQuery } from '../query.ts'
import type { Exporter, ExportFormat } from './exporter.ts'
import { TagList } from './tag-list.tsx'

// The delay from the last key to a search.
const TYPING_MS = 100

type ChipProps = {
  readonly label: string
  readonly value: string | undefined
  readonly onRemove: () => void
}

function Chip({ label, value, onRemove }: ChipProps) {
  return (
    <li class="term">
      <span>
        {label} {value === undefined ? null : <bdi>{value === '' ? '(empty)' : value}</bdi>}
      </span>
      <button
        type="button"
        class="quiet"
        aria-label={`Remove ${[label, value].join(' ').trim()}`}
        title="Remove"
        onClick={onRemove}
      >
        ×
      </button>
    </li>
  )
}

type SearchProps = {
  readonly list: PlantList
  /** Null if nothing can be changed. */
  readonly onRename: ((tag: string) => void) | null
}

const TERMS = [
  ['id', 'ID'],
  ['name', 'Name'],
  ['tag', 'Tag'],
  ['isUntagged', 'No tag'],
] as const

/** The current search, whose parts can be removed. */
function Terms({ list, onRename }: SearchProps) {
  const { value: query } = list.query
  const { tag } = query
  if (isEverything(query)) return null
  return (
    <ul class="terms" aria-label="Shown are plants with">
      {TERMS.map(([key, label]) =>
        query[key] === undefined ? null : (
          <Chip
            key={key}
            label={label}
            value={key === 'isUntagged' ? undefined : String(query[key])}
            onRemove={() => void list.removeTerm(key)}
          />
        ),
      )}
      {tag && onRename ? (
        <li>
          <button type="button" class="quiet" onClick={() => onRename(tag)}>
            Rename tag…
          </button>
        </li>
      ) : null}
      <li>
        <button
          type="button"
          class="quiet"
          onClick={() => {
            void list.show({})
            // The button disappears.
            document.getElementById('search')?.focus()
            list.announce('All plants are shown')
          }}
        >
          Show all plants
        </button>
      </li>
    </ul>
  )
}

/** The search box, an error in its text, and the current search as chips. */
function Search({ list, onRename }: SearchProps) {
  const text = useSignal('')
  const problem = useSignal<string | null>(null)
  const error = problem.value
  const timer = useRef(0)
  // The chips show the search now.
  useEffect(() => {
    text.value = ''
    problem.value = null
  }, [list.query.value])

  /** Searches as soon as the typing pauses. */
  function searchSoon(): void {
    clearTimeout(timer.current)
    timer.current = window.setTimeout(() => {
      const query = parseQuery(text.value)
      void list.searchTyped('problem' in query || query.id !== undefined ? null : query)
    }, TYPING_MS)
  }
  return (
    <search class="finders">
      <form
        class="find"
        onSubmit={(event) => {
          event.preventDefault()
          clearTimeout(timer.current)
          const query = parseQuery(text.value)
          if ('problem' in query) {
            problem.value = query.problem
            return
          }
          void list.refine(query)
        }}
      >
        <input
          id="search"
          type="search"
          dir="auto"
          aria-label="Search"
          placeholder="Name, ID or tag:fern"
          autoComplete="off"
          autoCapitalize="none"
          spellcheck={false}
          enterkeyhint="search"
          value={text.value}
          aria-invalid={error !== null}
          aria-describedby={error ? 'search-error' : undefined}
          onInput={(event) => {
            text.value = event.currentTarget.value
            problem.value = null
            searchSoon()
          }}
        />
        <TagList list={list} />
      </form>
      <Alert text={error} id="search-error" />
      <Terms list={list} onRename={onRename} />
    </search>
  )
}

const FILES = 'files'
const MENU = 'menu'

/** Asks for files to import. */
export const chooseFiles = (): void => document.getElementById(FILES)?.click()

type MoreProps = {
  readonly exporter: Exporter
  readonly selection: Selection
}

const FORMATS = [
  ['xlsx', 'Excel'],
  ['csv', 'CSV'],
  ['ndjson', 'NDJSON'],
] as const

/** The menu of exports; on a phone it also holds Import and Reload. */
function MoreMenu({ exporter, selection }: MoreProps) {
  const { list } = selection
  function startExport(format: ExportFormat): void {
    // Searches first, as Enter does, so that the export is what the table shows.
    if (list.typedQuery.value) void list.show(list.visibleQuery)
    void exporter.start(format, selection.plants())
  }
  return (
    <Menu
      id={MENU}
      label={
        <>
          <span class="wide">Export</span>
          <span class="narrow">More</span>
        </>
      }
    >
      {list.session.isReadOnly.value ? null : (
        <button type="button" class="quiet narrow" {...hideAttributes(MENU)} onClick={chooseFiles}>
          Import…
        </button>
      )}
      <p id="exported">
        Export{' '}
        {selection.size > 0
          ? 'the plants selected'
          : isEverything(list.visibleQuery)
            ? 'all plants'
            : 'the plants found'}
      </p>
      {FORMATS.map(([format, name]) => (
        <button
          key={format}
          type="button"
          class="quiet"
          aria-disabled={exporter.exportedCount.value !== null}
          aria-describedby="exported"
          {...hideAttributes(MENU)}
          onClick={() => startExport(format)}
        >
          {name}
        </button>
      ))}
      <button type="button" class="quiet narrow" {...hideAttributes(MENU)} onClick={list.refresh}>
        Reload
      </button>
    </Menu>
  )
}

type ToolbarProps = MoreProps & {
  readonly onAdd: () => void
  readonly onRename: (tag: string) => void
  readonly onFiles: (files: Iterable<File>) => void
}

/** The search box, and the buttons to add, import and export. */
export function Toolbar({ onAdd, onRename, onFiles, ...props }: ToolbarProps) {
  const { exporter, selection } = props
  const { list } = selection
  const isReadOnly = list.session.isReadOnly.value
  const writtenCount = exporter.exportedCount.value
  return (
    <div class="toolbar">
      <Search list={list} onRename={isReadOnly ? null : onRename} />
      <div class="buttons">
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
              aria-label="File to import"
              accept=".csv,.tsv,.tab,.txt,.xlsx,.xlsm,.xlsb,.xls,.ods,.json,.geojson,.ndjson,.jsonl"
              multiple
              tabIndex={-1}
              onChange={(event) => {
                onFiles([...(event.currentTarget.files ?? [])])
                event.currentTarget.value = ''
              }}
            />
          </>
        )}
        {writtenCount === null ? null : (
          <button type="button" onClick={exporter.stop}>
            Stop the export ({writtenCount.toLocaleString()})
          </button>
        )}
        <MoreMenu {...props} />
        <button type="button" class="quiet wide" onClick={list.refresh}>
          Reload
        </button>
      </div>
    </div>
  )
}
