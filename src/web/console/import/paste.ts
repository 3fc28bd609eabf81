// Rows pasted onto the page, such as cells of a spreadsheet: they are shown as a file is before its import.

import type { Session } from '../session.ts'
import { withoutLastLineEnds } from '../texts.ts'
import type { Importer } from './importer.ts'

/** Fields and dialogs take what is pasted themselves, but for the fields of one name or tag. */
const TAKERS = 'input, textarea, select, [contenteditable], dialog'
const OF_ONE_LINE = '.cell-field *, .side :is([name=name], [name=tag])'
const NAME = 'pasted rows'
const SEVERAL_LINES = /\S[^\S\n]*\r?\n\s*\S/

/** A line as it is copied from a spreadsheet: without the end of its row. */
function insertLine(event: ClipboardEvent, text: string): void {
  const line = withoutLastLineEnds(text)
  if (line === text) return
  event.preventDefault()
  document.execCommand('insertText', false, line)
}

/** Imports several pasted lines, in a field of one name too. One line is left to the browser. */
export function onPaste(event: ClipboardEvent, session: Session, importer: Importer): void {
  if (!session.isKnown.peek() || session.isReadOnly.peek() || event.defaultPrevented) return
  const { target } = event
  const isOfOneLine = target instanceof Element && target.matches(OF_ONE_LINE)
  if (target instanceof Element && target.closest(TAKERS) && !isOfOneLine) return
  const text = event.clipboardData?.getData('text/plain') ?? ''
  if (!SEVERAL_LINES.test(text)) {
    if (isOfOneLine) insertLine(event, text)
    return
  }
  event.preventDefault()
  void importer.add([new File([text], NAME, { type: 'text/plain' })], 'pasted')
}
