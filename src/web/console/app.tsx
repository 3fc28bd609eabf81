import { useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import type { NewPlant } from '../../client/client.ts'
import { Age } from './age.tsx'
import { Reconnect, Welcome } from './connect.tsx'
import type { Console } from './console.ts'
import { Empty } from './empty.tsx'
import { ImportPanel } from './import-panel.tsx'
import { Leaf } from './leaf.tsx'
import { Outage } from './outage.tsx'
import { PlantPanel } from './plant-panel.tsx'
import { PlantTable } from './plant-table.tsx'
import { SelectionBar } from './selection-bar.tsx'
import { Shortcuts } from './shortcuts.tsx'
import { Strip } from './strip.tsx'
import { Toolbar } from './toolbar.tsx'
import { UndoList } from './undo-list.tsx'

function Header({ console: { session, monitor, disconnect } }: { readonly console: Console }) {
  const heading = useRef<HTMLHeadingElement>(null)
  // The token field had the focus and is gone.
  useLayoutEffect(() => heading.current?.focus(), [])
  return (
    <header class="bar">
      <h1 class="title" ref={heading} tabIndex={-1}>
        <Leaf />
        plantstore <small>{monitor.latest.value?.version}</small>
      </h1>
      <nav>
        {session.isReadOnly.value ? <span class="badge">read-only token</span> : null}
        <a href="docs">API reference</a>
        <button type="button" class="quiet" onClick={disconnect}>
          Disconnect
        </button>
      </nav>
    </header>
  )
}

function countOf({ pages, finder }: Console): string {
  const total = pages.total.value
  const plants = total === 1 ? 'plant' : 'plants'
  if (finder.query.value.id !== undefined && total === 1) return 'The plant with this ID'
  return pages.isComplete.value
    ? `${total.toLocaleString()} ${plants}`
    : `${total.toLocaleString()} ${plants} so far; scroll for more`
}

/** The page. */
export function App({ console: all }: { readonly console: Console }) {
  const {
    session,
    pages,
    scroll,
    finder,
    editor,
    selection,
    pending,
    importer,
    exporter,
    monitor,
  } = all
  const isOver = useSignal(false)
  const isAsking = useSignal(false)
  const isReadOnly = session.isReadOnly.value
  const isEmpty = pages.isComplete.value && pages.total.value === 0
  useEffect(() => {
    function onKeyDown(event: KeyboardEvent): void {
      if (event.ctrlKey || event.metaKey || event.altKey) return
      if (event.target instanceof Element && event.target.closest('input, textarea, dialog')) return
      if (event.key === 'Escape' && editor.isOpen.peek()) editor.leave()
      else if (event.key === 'Escape' && selection.ids.peek().size > 0) selection.clear()
      else if (event.key === '/') document.getElementById('search')?.focus()
      else if (event.key === 'n' && session.isKnown.peek() && !session.isReadOnly.peek())
        editor.add()
      else if (event.key === '?' && session.isKnown.peek()) isAsking.value = true
      else return
      event.preventDefault()
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [session, editor, isAsking])
  if (!session.isKnown.value) return <Welcome session={session} />
  const openId = editor.openId()
  const openPlant = ({ id }: NewPlant): void => {
    const row = pages.rowOf(id)
    if (row >= 0) scroll.activate(row)
    void editor.edit(id)
  }
  const onDelete = (plants: readonly NewPlant[]): void => {
    void pending.remove(plants)
    selection.drop(plants)
    if (plants.some(({ id }) => id === openId)) editor.leave()
  }
  const onFiles = (files: Iterable<File>) => void importer.add(files)
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: files can be dropped anywhere; a button does the same.
    <div
      class={isOver.value ? 'page over' : 'page'}
      onDragOver={(event) => {
        if (isReadOnly || !event.dataTransfer?.types.includes('Files')) return
        event.preventDefault()
        isOver.value = true
      }}
      onDragLeave={(event) => {
        if (event.relatedTarget === null) isOver.value = false
      }}
      onDrop={(event) => {
        if (isReadOnly) return
        event.preventDefault()
        isOver.value = false
        onFiles([...(event.dataTransfer?.files ?? [])])
      }}
    >
      <Header console={all} />
      <main>
        <Outage monitor={monitor} />
        <Strip monitor={monitor} />
        <Toolbar
          finder={finder}
          exporter={exporter}
          isReadOnly={isReadOnly}
          onAdd={editor.add}
          onFiles={onFiles}
        />
        <ImportPanel
          importer={importer}
          isWaiting={!session.isReachable.value || !session.isConnected.value}
        />
        {pages.failure.value ? (
          <p class="error" role="alert">
            Cannot read the plants: {pages.failure.value}.{' '}
            <button type="button" class="quiet" onClick={finder.reload}>
              Retry
            </button>
          </p>
        ) : null}
        <div class="work">
          <div class={session.isReachable.value ? 'table' : 'table stale'}>
            <PlantTable
              pages={pages}
              scroll={scroll}
              isReadOnly={isReadOnly}
              openId={openId}
              onOpen={openPlant}
              onDelete={onDelete}
              onTag={(tag) => void finder.show({ ...finder.query.value, tag })}
              selection={selection}
              onUndo={() => pending.undo()}
            />
            {isEmpty ? <Empty console={all} /> : null}
          </div>
          {editor.isOpen.value ? (
            <PlantPanel
              editor={editor}
              pages={pages}
              isReadOnly={isReadOnly}
              onOpen={openPlant}
              onDelete={onDelete}
            />
          ) : null}
        </div>
        <div class="count">
          <span>
            {countOf(all)}
            <Age console={all} />
          </span>
          {selection.ids.value.size > 0 ? null : (
            <button
              type="button"
              class="quiet keys"
              onClick={() => {
                isAsking.value = true
              }}
            >
              Shortcuts <kbd>?</kbd>
            </button>
          )}
          <SelectionBar
            selection={selection}
            tags={pages.tags}
            onTag={(tag) => {
              void pending.setTag(tag, selection.plants())
              selection.clear()
            }}
            onDelete={onDelete}
          />
        </div>
      </main>
      <div class="notes">
        <p class="said" role="status">
          {all.said.value}
        </p>
        <UndoList pending={pending} />
      </div>
      {session.isConnected.value ? null : <Reconnect session={session} onForget={all.disconnect} />}
      {isAsking.value ? (
        <Shortcuts
          isReadOnly={isReadOnly}
          onClose={() => {
            isAsking.value = false
          }}
        />
      ) : null}
      {isOver.value ? (
        <div class="drop" aria-hidden="true">
          Drop to import
        </div>
      ) : null}
    </div>
  )
}
