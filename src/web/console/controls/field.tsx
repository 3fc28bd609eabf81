import type { Signal } from '@preact/signals'
import { Alert } from './alert.tsx'
import { type TagCounts, TagInput } from './tag-input.tsx'

type FieldProps = {
  readonly label: string
  readonly name: string
  readonly text: Signal<string>
  readonly error: string | undefined
  readonly attempt?: object
  readonly hint?: string
  /** True for a field that grows with its text; Enter still submits. */
  readonly isLong?: boolean
  /** The tags to suggest; for a short text. */
  readonly tags?: TagCounts
  readonly isSecret?: boolean
  readonly placeholder?: string
}

/** A labelled text field with a hint or an error below it. */
export function Field(props: FieldProps) {
  const { label, name, text, error, attempt, hint, isLong, tags, isSecret, placeholder } = props
  const note = `${name}-note`
  const common = {
    id: name,
    name,
    value: text.value,
    dir: isSecret ? 'ltr' : 'auto',
    autoComplete: isSecret ? 'current-password' : 'off',
    spellcheck: false,
    placeholder,
    'aria-invalid': error !== undefined,
    'aria-describedby': error || hint ? note : undefined,
    onInput: (event: { readonly currentTarget: { readonly value: string } }) => {
      text.value = event.currentTarget.value
    },
  } as const
  return (
    <div class="field">
      <label for={name}>{label}</label>
      {isLong ? (
        <textarea
          {...common}
          rows={1}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
            event.preventDefault()
            event.currentTarget.form?.requestSubmit()
          }}
        />
      ) : tags ? (
        <TagInput text={text} tags={tags} attributes={common} />
      ) : isSecret ? (
        <input {...common} type="password" />
      ) : (
        <input {...common} type="text" autoCapitalize="none" />
      )}
      <Alert text={error} id={note} attempt={attempt} />
      {hint && !error ? (
        <p class="hint" id={note}>
          {hint}
        </p>
      ) : null}
    </div>
  )
}
