import { useSignal } from '@preact/signals'

const STATUS_MS = 2000

/** Copies a text. Without HTTPS, only a copy event's handler may write to the clipboard. */
async function copy(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text)
  const fill = (event: ClipboardEvent) => {
    event.clipboardData?.setData('text/plain', text)
    event.preventDefault()
  }
  addEventListener('copy', fill, { once: true })
  if (!document.execCommand('copy')) throw new Error('refused')
}

/** A button that copies a text, and shows the outcome. */
export function CopyButton({ label, text }: { readonly label: string; readonly text: string }) {
  const status = useSignal('')
  return (
    <button
      type="button"
      class="quiet"
      onClick={async () => {
        status.value = await copy(text).then(
          () => 'Copied',
          () => 'The browser refused',
        )
        setTimeout(() => {
          status.value = ''
        }, STATUS_MS)
      }}
    >
      <span aria-live="polite">{status.value || label}</span>
    </button>
  )
}
