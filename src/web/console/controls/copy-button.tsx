import { useSignal } from '@preact/signals'
import type { ButtonHTMLAttributes } from 'preact'
import { copy } from './clipboard.ts'

const STATUS_MS = 2000

type Props = ButtonHTMLAttributes & { readonly label: string; readonly text: string }

/** A button that copies a text, and shows the outcome; with an `aria-label`, the outcome is not spoken. */
export function CopyButton({ label, text, ...attributes }: Props) {
  const status = useSignal('')
  return (
    <button
      type="button"
      class="quiet"
      {...attributes}
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
      <span aria-live={attributes['aria-label'] ? undefined : 'polite'}>
        {status.value || label}
      </span>
    </button>
  )
}
