// Puts the parts of the console together.

import { effect, signal, untracked } from '@preact/signals'
import { putView, readView, takeToken } from './address.ts'
import { createEditor } from './editor.ts'
import { createExporter } from './exporter.ts'
import { createFollower } from './follower.ts'
import { createImporter } from './importer.ts'
import { createMonitor } from './monitor.ts'
import { createPendingChanges } from './pending.ts'
import { createPlantList } from './plant-list.ts'
import { createSelection } from './selection.ts'
import { createSession } from './session.ts'
import { createTableScroll } from './table-scroll.ts'
import { isSameView } from './view.ts'

const SAID_MS = 6000

export type Console = ReturnType<typeof createConsole>

/** A console for the service at a URL. It starts watching the service at once. */
export function createConsole(base: URL) {
  /** A sentence about what was just done. */
  const said = signal('')
  let timer = 0
  function say(text: string): void {
    said.value = text
    clearTimeout(timer)
    timer = window.setTimeout(() => {
      said.value = ''
    }, SAID_MS)
  }

  const session = createSession(base)
  const list = createPlantList(session, say, putView)
  const scroll = createTableScroll(list)
  const editor = createEditor(session, list, say)
  const selection = createSelection(list)
  const pending = createPendingChanges(session, list, selection, say)
  const importer = createImporter(session, list.refresh)
  const exporter = createExporter(session, say)
  const follower = createFollower(session, list, editor.changed)
  const monitor = createMonitor(session)

  /** Shows the plants, once it is sure that no change of them is missed. */
  async function begin(): Promise<void> {
    await follower.start()
    if (!session.isKnown.value) return
    await list.open(readView(), true)
    editor.follow()
  }

  effect(() => {
    const isKnown = session.isKnown.value
    untracked(() => {
      if (isKnown) void begin()
      else follower.stop()
      if (isKnown) return monitor.lookNow()
      editor.close()
      list.close()
    })
  })

  // What is no longer shown is not changed by an oversight.
  effect(() => {
    list.query.value
    session.isKnown.value
    untracked(selection.clear)
  })

  effect(() => {
    const plants = monitor.latest.value?.plants
    untracked(() => list.expect(plants))
  })

  // Another tab shows the title and the icon alone.
  const icon = document.querySelector('link[rel=icon]')
  effect(() => {
    const { state } = monitor.health.value
    const problem = state === 'failing' ? 'Cannot write' : state === 'silent' ? 'No response' : ''
    icon?.setAttribute('href', problem === '' ? 'console/icon.svg' : 'console/icon-outage.svg')
    document.title = problem === '' ? 'plantstore' : `⚠ ${problem} – plantstore`
  })

  /** Forgets the token, and stops whatever used it. */
  function disconnect(): void {
    pending.leave()
    importer.stop()
    importer.dismiss()
    importer.forget()
    exporter.stop()
    // What was looked for is not for whoever comes next.
    history.replaceState(null, '', base)
    session.disconnect()
  }

  addEventListener('popstate', () => {
    if (!session.isKnown.value) return
    const view = readView()
    if (!isSameView(view, list.view())) void list.open(view, true)
    editor.follow()
  })
  addEventListener('pagehide', () => pending.leave(true))
  // A page from the back/forward cache still shows plants that were deleted as it was left.
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted && session.isKnown.value) list.refresh()
  })
  addEventListener('beforeunload', (event) => {
    const isImporting = importer.current.value?.state === 'running'
    if (isImporting || editor.isDirty() || pending.isAtRisk()) event.preventDefault()
  })
  /** Connects with the token of a link, or else with the one that the tab kept. */
  async function connect(): Promise<void> {
    const token = takeToken()
    if (session.isKnown.value) return
    if (token === '') return session.resume()
    await session.connect(token)
  }

  // A link to this page with another fragment does not load it again.
  addEventListener('hashchange', () => void connect())
  void monitor.watch()
  void connect()

  return {
    session,
    list,
    scroll,
    editor,
    selection,
    pending,
    importer,
    exporter,
    monitor,
    said,
    say,
    disconnect,
  }
}
