import type { Signal } from '@preact/signals'

type CheckProps = { readonly label: string; readonly isChecked: Signal<boolean> }

/** A box to tick. */
export const Check = ({ label, isChecked }: CheckProps) => (
  <label class="check">
    <input
      type="checkbox"
      checked={isChecked.value}
      onChange={({ currentTarget }) => {
        isChecked.value = currentTarget.checked
      }}
    />
    {label}
  </label>
)
