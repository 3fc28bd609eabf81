import { useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import type { NewPlant } from '../../client/client.ts'
import { Age } from './age.tsx'
import { Reconnect, Welcome } from './connect.tsx'
import type { Console } from './console.ts'
import { Empty } from './empty.tsx'
import { ImportPanel } from './import-panel.tsx'
import { Leaf } from './leaf.tsx'
import { hasMenu } from './modal.tsx'
import { Outage } from './outage.tsx'
import { plantsOf } from './pending.ts'
import { PlantPanel } from './plant-panel.tsx'
import { PlantTable } from './plant-table.tsx'
import { preparePrinting } from './print.ts'
import { Samples } from './samples.tsx'
import { SelectionBar } from './selection-bar.tsx'
import { Shortcuts } from './shortcuts.tsx'
import { MAX_SORTED } from './sort.ts'
import { Status } from './status.tsx'
import { Toolbar } from './toolbar.tsx'
import { UndoList } from './undo-list.tsx'

function Header({ console: { session, disconnect } }: { readonly console: Console }) {
  const heading = useRef<HTMLHeadingElement>(null)
  // The token field had the focus and is gone.
  useLayoutEffect(() => heading.current?.focus(), [])
  return (
    <header class="bar">
      <h1 class="title" ref={heading} tabIndex={-1}>
        <Leaf />
        plantstore
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

/** How many plants were found; nothing where the line of the status says it. */
function countOf({ list, monitor }: Console): string {
  const count = plantsOf(list.found.value)
  const { id, name, tag } = list.query.value
  const isAll = id === undefined && name === undefined && tag === undefined
  if (!list.isComplete.value) {
    if (isAll && monitor.latest.value?.plants !== undefined) return ''
    return `${count} ${isAll ? '' : 'found '}so far; scroll for more`
  }
  if (isAll) return ''
  return id !== undefined && list.found.value === 1 ? 'The plant with this ID' : `${count} found`
}

/** How far all plants are read, for an order that needs them. */
function Reading({ console: { list, monitor } }: { readonly console: Console }) {
  if (!list.isReadingAll.value) return null
  const isAll = Object.keys(list.query.value).length === 0
  const most = (isAll ? monitor.latest.value?.plants : undefined) ?? MAX_SORTED
  return (
    <progress
      class="reading"
      aria-label="Reading all plants"
      max={Math.max(most, 1)}
      value={list.found.value}
    />
  )
}

/** The page. */
export function App({ console: all }: { readonly console: Console }) {
  const { session, list, scroll, editor, selection, pending, importer, exporter, monitor } = all
  const isOver = useSignal(false)
  const isAsking = useSignal(false)
  const isReadOnly = session.isReadOnly.value
  const isEmpty = list.isComplete.value && list.rows.value === 0
  useEffect(() => {
    function onKeyDown(event: KeyboardEvent): void {
      if (event.ctrlKey || event.metaKey || event.altKey) return
      if (event.target instanceof Element && event.target.closest('input, textarea, dialog')) return
      if (event.key === 'Escape' && hasMenu()) return
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
  useEffect(() => preparePrinting(list), [list])
  if (!session.isKnown.value) return <Welcome session={session} />
  const openId = editor.openId()
  const openPlant = ({ id }: NewPlant, isForm: boolean): void => {
    const row = list.rowOf(id)
    if (row >= 0) scroll.activate(row)
    void editor.show(id, isForm)
  }
  const showTag = (tag: string): void => void list.show({ ...list.query.value, tag })
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
        <Status monitor={monitor} />
        <Toolbar
          list={list}
          exporter={exporter}
          isReadOnly={isReadOnly}
          onAdd={editor.add}
          onFiles={onFiles}
        />
        <ImportPanel
          importer={importer}
          isWaiting={!session.isReachable.value || !session.isConnected.value}
        />
        <Samples console={all} />
        {list.failure.value ? (
          <p class="error" role="alert">
            Cannot read the plants: {list.failure.value}.{' '}
            <button type="button" class="quiet" onClick={list.refresh}>
              Retry
            </button>
          </p>
        ) : null}
        <div class="work">
          <div class={session.isReachable.value ? 'table' : 'table stale'}>
            <Reading console={all} />
            <PlantTable
              list={list}
              scroll={scroll}
              isReadOnly={isReadOnly}
              openId={openId}
              onOpen={openPlant}
              onDelete={onDelete}
              onTag={showTag}
              selection={selection}
              onUndo={() => pending.undo()}
            />
            {isEmpty ? <Empty console={all} /> : null}
          </div>
          {editor.isOpen.value ? (
            <PlantPanel
              editor={editor}
              list={list}
              base={session.base}
              isReadOnly={isReadOnly}
              onOpen={openPlant}
              onTag={showTag}
              onDelete={onDelete}
            />
          ) : null}
        </div>
        <div class="count">
          <p>
            <span>{countOf(all)}</span>
            <Age console={all} />
          </p>
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
            tags={list.tags}
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
