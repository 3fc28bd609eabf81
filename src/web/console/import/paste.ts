// Rows pasted onto the page, such as cells of a spreadsheet: they are shown as a file is before its import.

import type { Session } from '../session.ts'
import type { Importer } from './importer.ts'

/** Fields and dialogs take what is pasted themselves. */
const TAKERS = 'input, textarea, select, [contenteditable], dialog'
const NAME = 'pasted rows'

/** Imports several pasted lines. One line is left to the browser. */
export function onPaste(event: ClipboardEvent, session: Session, importer: Importer): void {
  if (!session.isKnown.peek() || session.isReadOnly.peek() || event.defaultPrevented) return
  if (event.target instanceof Element && event.target.closest(TAKERS)) return
  const text = event.clipboardData?.getData('text/plain') ?? ''
  if (!/\S[^\S\n]*\r?\n\s*\S/.test(text)) return
  event.preventDefault()
  void importer.add([new File([text], NAME, { type: 'text/plain' })], 'ask')
}
