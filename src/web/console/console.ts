// Puts the parts of the console together.

import { effect, signal, untracked } from '@preact/signals'
import { createEditor } from './editor.ts'
import { createExporter } from './exporter.ts'
import { createFinder } from './finder.ts'
import { createFollower } from './follower.ts'
import { createImporter } from './importer.ts'
import { createMonitor } from './monitor.ts'
import { createPendingChanges } from './pending.ts'
import { createPlantPages } from './plant-pages.ts'
import { createSelection } from './selection.ts'
import { createSession } from './session.ts'
import { createTableScroll } from './table-scroll.ts'

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
  const pages = createPlantPages(session)
  const scroll = createTableScroll(pages)
  const finder = createFinder(pages, scroll)
  const editor = createEditor(session, pages, say)
  const selection = createSelection(pages)
  const pending = createPendingChanges(session, pages, selection, say)
  const importer = createImporter(session, finder.reload)
  const exporter = createExporter(session, say)
  const follower = createFollower(session, pages, editor.changed)
  const monitor = createMonitor(session)

  /** Shows the plants, once it is sure that no change of them is missed. */
  async function begin(): Promise<void> {
    await follower.start()
    if (!session.isKnown.value) return
    await finder.follow()
    editor.follow()
  }

  effect(() => {
    const isKnown = session.isKnown.value
    untracked(() => {
      if (isKnown) void begin()
      else follower.stop()
      if (isKnown) monitor.lookNow()
      else editor.close()
    })
  })

  // What is no longer shown is not changed by an oversight.
  effect(() => {
    finder.query.value
    session.isKnown.value
    untracked(selection.clear)
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
    if (finder.isElsewhere()) void finder.follow()
    editor.follow()
  })
  addEventListener('pagehide', () => pending.leave(true))
  // A page from the back/forward cache still shows plants that were deleted as it was left.
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted && session.isKnown.value) finder.reload()
  })
  addEventListener('beforeunload', (event) => {
    const isImporting = importer.current.value?.state === 'running'
    if (isImporting || editor.isDirty() || pending.isAtRisk()) event.preventDefault()
  })
  void monitor.watch()
  void session.resume()

  return {
    session,
    pages,
    scroll,
    finder,
    editor,
    selection,
    pending,
    importer,
    exporter,
    follower,
    monitor,
    said,
    disconnect,
  }
}
