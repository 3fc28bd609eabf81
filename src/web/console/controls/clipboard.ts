/** Copies a text, and as HTML for spreadsheets. Rejects if the browser refuses. */
export async function copy(text: string, html?: string): Promise<void> {
  const fill = (event: ClipboardEvent): void => {
    event.clipboardData?.setData('text/plain', text)
    if (html !== undefined) event.clipboardData?.setData('text/html', html)
    event.preventDefault()
    event.stopImmediatePropagation()
  }
  // Without HTTPS, only a handler of a copy event may write to the clipboard.
  addEventListener('copy', fill, { once: true, capture: true })
  const isCopied = document.execCommand('copy')
  removeEventListener('copy', fill, { capture: true })
  // Some browsers copy only a selection.
  if (!isCopied) await navigator.clipboard.writeText(text)
}
