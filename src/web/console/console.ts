// Creates the parts of the console, and connects them.

import { effect, signal, untracked } from '@preact/signals'
import type { Change, NewPlant } from '../../client/client.ts'
import { keptToken } from '../kept-token.ts'
import { extractToken, readUrlView, setUrlView } from './address.ts'
import { type Announcer, createAnnouncer } from './announcer.ts'
import type { CellEditor } from './cells/cell-editor.tsx'
import { ChangeQueue } from './change-queue.ts'
import { BackgroundSaves } from './editor/background-saves.ts'
import { Editor } from './editor/editor.ts'
import { createImporter } from './import/importer.ts'
import { onPaste } from './import/paste.ts'
import { createFollower } from './list/follower.ts'
import { PlantList } from './list/plant-list.ts'
import { Selection } from './list/selection.ts'
import { createPreference } from './preferences.ts'
import { Session } from './session.ts'
import { createMonitor, STATE_NAMES } from './status/monitor.ts'
import { TableScroll } from './table/table-scroll.ts'
import { hasSameTexts } from './texts.ts'
import { Exporter } from './toolbar/exporter.ts'
import { nameOf } from './undo/describe.ts'
import { UndoHistory } from './undo/undo-history.ts'
import { isSameView } from './view.ts'

// Wide screens have compact rows unless the user chose otherwise.
const WIDE = '(width >= 1280px)'

export type Console = ReturnType<typeof createParts>

/** The parts that carry out changes, and undo them. */
function createChanges(list: PlantList, announcer: Announcer) {
  const queue = new ChangeQueue()
  const undoHistory = new UndoHistory(list, announcer, queue)
  const saves = new BackgroundSaves(list, queue, (step) => {
    undoHistory.expect([step])
    undoHistory.record({ what: nameOf([step]), steps: [step] })
  })
  list.withUnsaved = saves.withUnsaved
  return { queue, undoHistory, saves }
}

function createParts(base: URL) {
  const announcer = createAnnouncer()
  const { announce } = announcer
  const session = new Session(base)
  const monitor = createMonitor(session)
  const list = new PlantList(session, announce, setUrlView)
  const scroll = new TableScroll(list)
  const { queue, undoHistory, saves } = createChanges(list, announcer)
  const editor = new Editor(list, saves)
  const selection = new Selection(list)
  const onImported = (): void => {
    list.refresh()
    monitor.pollNow()
  }
  const importer = createImporter(session, onImported, (item) => {
    if (item.undoBarrier === undefined) announce(`Ctrl+Z undoes ${item.what}`)
    undoHistory.record(item)
  })
  const exporter = new Exporter(list)
  const isHelpShown = signal(false)
  const isRecentShown = signal(false)
  /** Null until it is loaded. */
  const cells = signal<CellEditor | null>(null)
  /** Forgets the token, stops everything that used it, and forgets what it has shown. */
  function forget(): void {
    session.disconnect()
    queue.forget()
    undoHistory.clear()
    importer.stop()
    importer.dismiss()
    importer.forget()
    exporter.stop()
    isRecentShown.value = false
    saves.forget()
    cells.value?.forget()
    selection.clear()
    editor.close()
    list.close()
  }
  /** Opens the page of a plant, or its form. */
  function open({ id }: Pick<NewPlant, 'id'>, isForm = false): void {
    const row = list.rows.rowOf(id)
    if (row >= 0) scroll.activate(row)
    void editor.show(id, isForm)
  }
  return {
    session,
    monitor,
    list,
    scroll,
    saves,
    editor,
    selection,
    undoHistory,
    cells,
    importer,
    exporter,
    isHelpShown,
    isRecentShown,
    isCompact: createPreference('compact', matchMedia(WIDE).matches),
    /** True if single letters are shortcuts. */
    hasLetters: createPreference('letters', true),
    announcer,
    disconnect(): void {
      forget()
      // Hide the search from the next user.
      history.replaceState(null, '', base)
    },
    forget,
    open,
  }
}

/** Shows the plants while there is a token, and follows the changes of others. */
function showPlants(parts: Console): void {
  const { session, list, scroll, editor, selection, undoHistory, monitor } = parts
  const follower = createFollower(list, async (changes) => {
    const others = changes.filter(({ id, after }) => !undoHistory.takeEcho(id, after))
    const otherIds = new Set(others.map(({ id }) => id))
    announceActiveChange(others)
    const afterById = new Map(changes.map(({ id, after }) => [id, after]))
    list.changeAll(afterById)
    const deletedIds = [...afterById].filter(([, after]) => after === null).map(([id]) => id)
    // Another change would end the reading of a range.
    if (deletedIds.some((id) => selection.has(id))) selection.remove(deletedIds)
    for (const id of afterById.keys()) await editor.onChanged(id, otherIds.has(id))
  })

  /** Announces changes by others to the active plant; the open plant announces its own. */
  function announceActiveChange(others: readonly Change[]): void {
    const plant = list.rows.row(scroll.active.row.peek())
    const after = others.findLast(({ id }) => id === plant?.id)?.after
    if (!plant || after === undefined || plant.id === editor.openId) return
    if (after === null) list.announce(`Plant ${plant.id} was deleted elsewhere`)
    else if (!hasSameTexts(plant, after))
      list.announce(
        `Plant ${plant.id} was changed elsewhere: ${after.name}, ${after.tag ?? 'no tag'}`,
      )
  }

  async function begin(): Promise<void> {
    // Follow before reading, so that no change is missed.
    await follower.start()
    // The number of plants decides whether the page itself searches.
    if (readUrlView().query.name !== undefined) await monitor.poll()
    if (!session.hasSession.value) return
    void list.open(readUrlView(), true)
    editor.followUrl()
    void list.tags.read()
  }

  effect(() => {
    if (!session.hasSession.value) return follower.stop()
    untracked(() => {
      void begin()
      monitor.pollNow()
    })
  })
}

function connectParts({ list, selection, undoHistory, monitor }: Console): void {
  // The user's own changes update tags and status at once.
  effect(() => {
    undoHistory.undoItems.value
    undoHistory.redoItems.value
    list.tags.markStale()
    untracked(monitor.pollNow)
  })
  // Clear the selection so that hidden plants are not changed.
  effect(() => {
    list.query.value
    list.typedQuery.value
    untracked(selection.clear)
  })
  effect(() => {
    const plants = monitor.latest.value?.plants
    // During an outage, the last known number stays.
    if (plants != null) untracked(() => list.setStoredCount(plants))
  })
}

/** Loads the cell editor once a token may write; retries once the service answers again. */
function loadCells(parts: Console): void {
  const { session, cells } = parts
  effect(() => {
    const isUsable = session.isConnected.value && session.isReachable.value
    if (!isUsable || session.isReadOnly.value) return
    untracked(async () => {
      const code = await import('./cells/cell-editor.tsx').catch(() => null)
      if (code) cells.value ??= new code.CellEditor(parts)
    })
  })
}

/** Shows an outage in the title and the icon, which are visible from other tabs, and announces its end. */
function showOutageInTab({ monitor, list }: Console): void {
  const icon = document.querySelector('link[rel=icon]')
  let wasTrouble = false
  effect(() => {
    const { state } = monitor.health.value
    const isTrouble = state === 'failing' || state === 'silent'
    if (wasTrouble && state === 'healthy') list.announce('plantstore responds again')
    wasTrouble = isTrouble
    icon?.setAttribute('href', isTrouble ? 'console/icon-outage.svg' : 'console/icon.svg')
    document.title = isTrouble ? `⚠ ${STATE_NAMES[state]} – plantstore` : 'plantstore'
  })
}

/** Forgets everything when the user leaves the page, which the browser may restore, unless the tab keeps the token. */
function forgetOnLeaving({ session, list, forget }: Console): void {
  addEventListener('pagehide', () => {
    if (!session.keepsToken.value) forget()
  })
  addEventListener('pageshow', ({ persisted }) => {
    if (!persisted || !session.hasSession.value) return
    if (keptToken(session.base) === '') forget()
    else list.refresh()
  })
}

function listenToPage({
  session,
  list,
  saves,
  editor,
  undoHistory,
  importer,
  cells,
}: Console): void {
  addEventListener('popstate', () => {
    if (!session.hasSession.value) return
    const view = readUrlView()
    if (!isSameView(view, list.view)) void list.open(view, true)
    editor.followUrl()
  })
  addEventListener('paste', (event) => {
    if (cells.value?.onPaste(event)) event.preventDefault()
    else onPaste(event, session, importer)
  })
  addEventListener('beforeunload', (event) => {
    const isImporting = importer.current.value?.state === 'running'
    const isTyped = editor.isDirty || saves.hasUnsaved || cells.value?.hasUnsaved
    if (isImporting || isTyped || undoHistory.progress.value) event.preventDefault()
  })
}

/** Connects with the token of a link, or else with the one in the tab. */
async function connect({ session }: Console): Promise<void> {
  const token = extractToken()
  if (session.hasSession.value) return
  if (token === '') return session.resume()
  await session.connect(token)
}

/** A console for the service at a URL. It starts watching the service at once. */
export function createConsole(base: URL): Console {
  const parts = createParts(base)
  showPlants(parts)
  connectParts(parts)
  loadCells(parts)
  showOutageInTab(parts)
  listenToPage(parts)
  forgetOnLeaving(parts)
  // A link to another fragment of this page does not reload it.
  addEventListener('hashchange', () => void connect(parts))
  void parts.monitor.watch(() => document.hidden)
  void connect(parts)
  return parts
}
