import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { NewPlant } from '../../client/client.ts'
import { SAMPLE_STEPS, Samples } from './bulk/samples.tsx'
import { SelectionBar } from './bulk/selection-bar.tsx'
import { Reconnect, Welcome } from './connect.tsx'
import type { Console } from './console.ts'
import { keepFocus } from './controls/focus.ts'
import { lazily } from './controls/lazily.tsx'
import { Leaf } from './controls/leaf.tsx'
import { watchInput } from './controls/user-input.ts'
import { Unsaved } from './editor/unsaved.tsx'
import { ImportPanel } from './import/import-panel.tsx'
import { onPageKey } from './page-keys.ts'
import { textOf } from './query.ts'
import { Outage } from './status/outage.tsx'
import { Status } from './status/status.tsx'
import { PlantTable } from './table/plant-table.tsx'
import { Age } from './toolbar/age.tsx'
import { describeFound } from './toolbar/describe-found.ts'
import { Empty } from './toolbar/empty.tsx'
import { Toolbar } from './toolbar/toolbar.tsx'
import { Note } from './undo/note.tsx'
import { deletionOf, type Step, taggingOf } from './undo/step.ts'

type Props = { readonly console: Console }

const PlantPanel = lazily(() => import('./editor/plant-panel.tsx').then((code) => code.PlantPanel))
const RecentPanel = lazily(() =>
  import('./recent/recent-panel.tsx').then((code) => code.RecentPanel),
)
const RenameTag = lazily(() => import('./bulk/rename-tag.tsx').then((code) => code.RenameTag))
const Shortcuts = lazily(() => import('./shortcuts.tsx').then((code) => code.Shortcuts))

const READ_ONLY_BADGES = { token: 'Read-only token', daemon: 'This daemon is read-only' } as const

function Header({ console: { session, monitor, disconnect } }: Props) {
  const reason = session.readOnlyReason.value
  const heading = useRef<HTMLHeadingElement>(null)
  // The token field, which had the focus, has disappeared. A screen reader misses a focus that comes with its element.
  useEffect(() => heading.current?.focus(), [])
  return (
    <header class="bar">
      <h1 class="title" ref={heading} tabIndex={-1}>
        <Leaf />
        plantstore
        <span class="visually-hidden">connected</span>
      </h1>
      <Status monitor={monitor} />
      <nav>
        {reason && <span class="badge">{READ_ONLY_BADGES[reason]}</span>}
        {/* biome-ignore lint/security/noBlankTarget: with an opener, our other page gets the token that this tab keeps. */}
        <a href="docs" target="_blank" rel="opener">
          API reference
        </a>
        <button type="button" class="quiet" onClick={disconnect}>
          Disconnect
        </button>
      </nav>
    </header>
  )
}

function show(isShown: Signal<boolean>): void {
  isShown.value = true
}

function hide(isShown: Signal<boolean>): void {
  isShown.value = false
}

/** The actions that involve several parts of the page. */
function actionsOf({ list, editor, selection, undoHistory, open }: Console) {
  /** Carries out steps; skipped plants are ticked, for another try. */
  async function onChange(steps: readonly Step[]): Promise<boolean> {
    const skipped = await undoHistory.do(steps)
    if (steps.length > 1) selection.tickAgain(skipped.map(({ step }) => step.id))
    return skipped.length === 0
  }
  /** Renames a tag, then shows the plants with the new one, unless some are left out or another search is shown. */
  async function onRename(steps: readonly Step[], before: string, after: string): Promise<void> {
    const isWhole = await onChange(steps)
    if (isWhole && list.query.value.tag === before) await list.refine({ tag: after })
  }
  return {
    onOpen: open,
    onTag: (tag: string): void => void list.refine({ tag }),
    onChange,
    onRename,
    onDelete(plants: readonly NewPlant[]): void {
      void onChange(plants.map(deletionOf))
      selection.remove(plants.map(({ id }) => id))
      if (plants.some(({ id }) => id === editor.openId)) editor.leave()
    },
  }
}

const tableClass = ({ session, isCompact }: Console): string =>
  ['table', isCompact.value ? 'compact' : '', session.isReachable.value ? '' : 'stale'].join(' ')

/** The table, and one plant beside it. */
function TableAndPanel({ console: all }: Props) {
  const { session, list, scroll, editor, selection } = all
  const actions = actionsOf(all)
  const isReadOnly = session.isReadOnly.value
  const isEmpty = list.rows.isComplete.value && list.rows.count.value === 0
  const form = editor.form.value
  return (
    <div class="work">
      <div class={tableClass(all)}>
        <PlantTable
          scroll={scroll}
          openId={editor.openId}
          selection={selection}
          cells={isReadOnly ? null : all.cells.value}
          {...actions}
        />
        {isEmpty ? (
          <Empty
            list={list}
            onAdd={() => editor.add()}
            onSamples={() => void actions.onChange(SAMPLE_STEPS)}
          />
        ) : null}
      </div>
      {form ? <PlantPanel editor={editor} form={form} {...actions} /> : null}
    </div>
  )
}

/** The line below the table: counts, or the actions on the ticked plants. */
function Footer({ console: all }: Props) {
  const { session, list, selection, monitor, undoHistory, isCompact } = all
  const found = describeFound(list)
  const undoCount = undoHistory.undoItems.value.length
  return (
    <div class="count">
      <p>
        <span role="status" aria-busy={list.reader.isReadingAll.value && !list.typedQuery.value}>
          {/* Another element for each search: the same number is announced again. */}
          <span key={`${textOf(list.visibleQuery)} ${found}`}>{found}</span>
        </span>
        {/* The status is polled every few seconds, and serves as the clock. */}
        <Age list={list} now={monitor.latest.value?.readAt ?? 0} />
      </p>
      {selection.size > 0 ? null : (
        <div class="keys">
          <button
            type="button"
            class="quiet"
            aria-pressed={isCompact.value}
            onClick={() => {
              isCompact.value = !isCompact.value
            }}
          >
            Compact rows
          </button>
          {session.hasChangeLog.value ? (
            <button type="button" class="quiet" onClick={() => show(all.isRecentShown)}>
              Recent changes <kbd>r</kbd>
            </button>
          ) : null}
          {undoCount > 0 ? (
            <button type="button" class="quiet" onClick={undoHistory.undo}>
              Undo{undoCount > 1 ? ` (${undoCount.toLocaleString()})` : null} <kbd>Ctrl+Z</kbd>
            </button>
          ) : null}
          <button type="button" class="quiet" onClick={() => show(all.isHelpShown)}>
            Shortcuts <kbd>?</kbd>
          </button>
        </div>
      )}
      <SelectionBar
        selection={selection}
        onCopy={() => all.cells.value?.copyTicked()}
        onTag={(tag) => {
          const plants = selection.plants()
          selection.clear()
          void actionsOf(all).onChange(plants.map((plant) => taggingOf(plant, tag)))
        }}
        onDelete={actionsOf(all).onDelete}
      />
    </div>
  )
}

function Main({ console: all }: Props) {
  const { session, list, editor, importer, exporter, monitor } = all
  const tagToRename = useSignal<string | null>(null)
  return (
    <main>
      <Outage monitor={monitor} />
      <Toolbar
        exporter={exporter}
        onAdd={() => editor.add()}
        onRename={(tag) => {
          tagToRename.value = tag
        }}
        onFiles={(files) => void importer.add(files)}
        selection={all.selection}
      />
      <ImportPanel
        importer={importer}
        isWaiting={!session.isReachable.value || !session.isConnected.value}
      />
      <Samples list={list} onDelete={actionsOf(all).onDelete} />
      {list.reader.failure.value ? (
        <p class="error" role="alert">
          Cannot read the plants: {list.reader.failure.value}.{' '}
          <button type="button" class="quiet" onClick={list.refresh}>
            Retry
          </button>
        </p>
      ) : null}
      <TableAndPanel console={all} />
      <Footer console={all} />
      {tagToRename.value === null ? null : (
        <RenameTag
          tag={tagToRename.value}
          list={list}
          onRename={actionsOf(all).onRename}
          onClose={() => {
            tagToRename.value = null
          }}
        />
      )}
    </main>
  )
}

/** Handlers that import files dropped anywhere on the page. */
function dropHandlers({ session, importer }: Console, isDragging: Signal<boolean>) {
  const isReadOnly = session.isReadOnly.value
  return {
    onDragOver(event: DragEvent): void {
      if (isReadOnly || !event.dataTransfer?.types.includes('Files')) return
      event.preventDefault()
      isDragging.value = true
    },
    onDragLeave(event: DragEvent): void {
      if (event.relatedTarget === null) isDragging.value = false
    },
    onDrop(event: DragEvent): void {
      if (isReadOnly) return
      event.preventDefault()
      isDragging.value = false
      void importer.add([...(event.dataTransfer?.files ?? [])])
    },
  }
}

/** The page. */
export function App({ console: all }: Props) {
  const { session, monitor, list, editor, undoHistory, announcer, isHelpShown, isRecentShown } = all
  const isDragging = useSignal(false)
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (onPageKey(event, all)) event.preventDefault()
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [all])
  useEffect(keepFocus, [])
  useEffect(watchInput, [])
  // Loaded before they are needed: they open at once, and take what is typed.
  useEffect(() => {
    void PlantPanel.load()
    void RenameTag.load()
  }, [])
  if (!session.hasSession.value) return <Welcome session={session} />
  return (
    <div class={isDragging.value ? 'page over' : 'page'} {...dropHandlers(all, isDragging)}>
      <Header console={all} />
      <Main console={all} />
      <div class="notes">
        <Note undoHistory={undoHistory} announcer={announcer} />
        <Unsaved editor={editor} isHealthy={monitor.health.value.state === 'healthy'} />
      </div>
      {session.isConnected.value ? null : <Reconnect session={session} onForget={all.disconnect} />}
      {isHelpShown.value ? (
        <Shortcuts
          isReadOnly={session.isReadOnly.value}
          hasLetters={all.hasLetters}
          onClose={() => hide(isHelpShown)}
        />
      ) : null}
      {isRecentShown.value ? (
        <RecentPanel
          list={list}
          undoHistory={undoHistory}
          onOpen={all.open}
          onClose={() => hide(isRecentShown)}
        />
      ) : null}
      {isDragging.value ? (
        <div class="drop" aria-hidden="true">
          Drop to import
        </div>
      ) : null}
    </div>
  )
}
