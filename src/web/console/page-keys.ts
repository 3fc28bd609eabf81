// The keyboard shortcuts of the page. They also work beside an open plant, but not in fields or modal dialogs.

import type { NewPlant } from '../../client/client.ts'
import { hasMenu } from './controls/modal.tsx'
import type { Editor } from './editor/editor.ts'
import type { PlantList } from './list/plant-list.ts'
import type { Selection } from './list/selection.ts'
import { printAll } from './toolbar/print.ts'
import type { Acts } from './undo/acts.ts'

type PageParts = {
  readonly list: PlantList
  readonly editor: Editor
  readonly selection: Selection
  readonly acts: Acts
  readonly onOpen: (plant: Pick<NewPlant, 'id'>, isForm: boolean) => void
  readonly onHelp: () => void
  /** True if single letters are shortcuts. */
  readonly hasLetters: { readonly value: boolean }
  readonly onRecent: () => void
}

const FIELDS = 'input:not([type="checkbox"]), textarea, select, dialog:modal'

const isIn = ({ target }: KeyboardEvent, selector: string): boolean =>
  target instanceof Element && target.closest(selector) !== null

/** Handles a key beside an open plant; false for any other key. */
function onPanelKey({ key }: KeyboardEvent, { list, editor, onOpen }: PageParts): boolean {
  const id = editor.openId
  if (id === null || editor.isEditing.peek() || hasMenu()) return false
  const [before, after] = list.rows.neighbours(id)
  const step = { ArrowUp: before, ArrowDown: after }[key]
  if (step) onOpen(step, false)
  else if (key === 'F2' && !list.session.isReadOnly.peek()) editor.edit()
  else return false
  return true
}

/** Escape leaves the panel, then the selection. */
function onEscape({ editor, selection }: PageParts): boolean {
  if (hasMenu()) return false
  if (editor.form.peek()) editor.leave()
  else if (selection.size > 0) selection.clear()
  else return false
  return true
}

/** Handles a key with Ctrl or Cmd: undo, redo or print. */
function onChord({ key, shiftKey }: KeyboardEvent, { acts, list }: PageParts): boolean {
  const letter = key.toLowerCase()
  if (letter === 'z' && !shiftKey) acts.undo()
  else if (letter === 'z' || letter === 'y') acts.redo()
  else if (letter === 'p') void printAll(list)
  else return false
  return true
}

/** Handles a key; false for any other key. */
export function onPageKey(event: KeyboardEvent, page: PageParts): boolean {
  const { session } = page.list
  if (event.altKey || event.defaultPrevented) return false
  if (!session.hasSession.peek() || isIn(event, FIELDS)) return false
  if (event.ctrlKey || event.metaKey) return onChord(event, page)
  if (event.key === 'Escape') return onEscape(page)
  if (/^.$/u.test(event.key) && !page.hasLetters.value) return false
  if (event.key === '/') document.getElementById('search')?.focus()
  else if (event.key === 'n' && !session.isReadOnly.peek()) page.editor.add()
  else if (event.key === '?') page.onHelp()
  else if (event.key === 'r' && session.hasChangeLog.peek()) page.onRecent()
  else return isIn(event, 'dialog') && onPanelKey(event, page)
  return true
}
