// Rows pasted onto the page, such as cells of a spreadsheet, are imported like a file.

import type { Session } from '../session.ts'
import { withoutLastLineEnds } from '../texts.ts'
import type { Importer } from './importer.ts'

/** Elements that handle a paste themselves, except for single-line fields. */
const PASTE_TARGETS = 'input, textarea, select, [contenteditable], dialog'
const SINGLE_LINE_FIELDS = '.cell-field *, .side :is([name=name], [name=tag])'
const NAME = 'pasted rows'
/** Several lines, or several cells of one. */
const ROWS = /\S[^\S\t\n]*[\t\n]\s*\S/

/** Inserts a line copied from a spreadsheet, without its line end. */
function insertLine(event: ClipboardEvent, text: string): void {
  const line = withoutLastLineEnds(text)
  if (line === text) return
  event.preventDefault()
  document.execCommand('insertText', false, line)
}

/** Imports several pasted lines, even from a single-line field. The browser handles one line. */
export function onPaste(event: ClipboardEvent, session: Session, importer: Importer): void {
  if (!session.hasSession.peek() || session.isReadOnly.peek() || event.defaultPrevented) return
  const { target } = event
  const isSingleLine = target instanceof Element && target.matches(SINGLE_LINE_FIELDS)
  if (target instanceof Element && target.closest(PASTE_TARGETS) && !isSingleLine) return
  const text = event.clipboardData?.getData('text/plain') ?? ''
  if (!ROWS.test(text)) {
    if (isSingleLine) insertLine(event, text)
    return
  }
  event.preventDefault()
  void importer.add([new File([text], NAME, { type: 'text/plain' })], 'pasted')
}
