import { useSignal } from '@preact/signals'
import { copy } from './clipboard.ts'

const STATUS_MS = 2000

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
