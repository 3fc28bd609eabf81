// The keyboard shortcuts of the page. They also work beside an open plant, but not in fields or modal dialogs.

import type { Console } from './console.ts'
import { hasMenu } from './controls/modal.tsx'

const FIELDS = 'input:not([type="checkbox"]), textarea, select, dialog:modal'

const isIn = ({ target }: KeyboardEvent, selector: string): boolean =>
  target instanceof Element && target.closest(selector) !== null

/** Handles a key beside an open plant; false for any other key. */
function onPanelKey({ key }: KeyboardEvent, { list, editor, open }: Console): boolean {
  const id = editor.openId
  if (id === null || editor.isEditing.peek() || hasMenu()) return false
  const [before, after] = list.rows.neighbours(id)
  const step = { ArrowUp: before, ArrowDown: after }[key]
  if (step) open(step)
  else if (key === 'F2' && !list.session.isReadOnly.peek()) editor.edit()
  else return false
  return true
}

/** Escape closes the panel, or else clears the selection. */
function onEscape({ editor, selection }: Console): boolean {
  if (hasMenu()) return false
  if (editor.form.peek()) editor.leave()
  else if (selection.size > 0) selection.clear()
  else return false
  return true
}

/** Handles a key with Ctrl or Cmd: undo or redo. */
function onChord({ key, shiftKey }: KeyboardEvent, { undoHistory }: Console): boolean {
  const letter = key.toLowerCase()
  if (letter === 'z' && !shiftKey) undoHistory.undo()
  else if (letter === 'z' || letter === 'y') undoHistory.redo()
  else return false
  return true
}

/** Handles a key; false for any other key. */
export function onPageKey(event: KeyboardEvent, page: Console): boolean {
  const { session, isHelpShown, isRecentShown } = page
  if (event.altKey || event.defaultPrevented) return false
  if (!session.hasSession.peek() || isIn(event, FIELDS)) return false
  if (event.ctrlKey || event.metaKey) return onChord(event, page)
  if (event.key === 'Escape') return onEscape(page)
  if (/^.$/u.test(event.key) && !page.hasLetters.value) return false
  if (event.key === '/') document.getElementById('search')?.focus()
  else if (event.key === 'n' && !session.isReadOnly.peek()) page.editor.add()
  else if (event.key === '?') isHelpShown.value = true
  else if (event.key === 'r' && session.hasChangeLog.peek()) isRecentShown.value = true
  else return isIn(event, 'dialog') && onPanelKey(event, page)
  return true
}
