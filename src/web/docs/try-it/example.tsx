// The request of a form as code, in a language shared by all forms.
import type { Signal } from '@preact/signals'
import { Code } from '../code'
import { type Filled, LANGUAGE_NAMES, LANGUAGES, type Language } from './languages'

type Props = { readonly filled: Filled; readonly language: Signal<Language> }

export function Example({ filled, language }: Props) {
  const name = `${language.value}: ${filled.operation.operationId}`
  return (
    <details>
      <summary>As code</summary>
      <div class="flow">
        <fieldset class="languages" aria-label="Language">
          {LANGUAGE_NAMES.map((choice) => (
            <button
              key={choice}
              type="button"
              aria-pressed={choice === language.value}
              onClick={() => {
                language.value = choice
              }}
            >
              {choice}
            </button>
          ))}
        </fieldset>
        <Code text={LANGUAGES[language.value](filled)} label={name} scrolls />
      </div>
    </details>
  )
}
