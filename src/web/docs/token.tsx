// The token field. The token is kept in memory, and in the tab's storage if requested.
import { type Signal, useSignal, useSignalEffect } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { Check } from '../console/controls/check.tsx'
import { keepToken, keptToken } from '../kept-token.ts'

type Props = { readonly token: Signal<string>; readonly base: URL }

export function TokenField({ token, base }: Props) {
  const isKept = useSignal(keptToken(base) !== '')
  useSignalEffect(() => keepToken(base, isKept.value ? token.value : ''))
  useEffect(() => {
    // A page that the browser brings back has no token.
    const forget = (): void => {
      if (!isKept.value) token.value = ''
    }
    addEventListener('pagehide', forget)
    return () => removeEventListener('pagehide', forget)
  }, [])
  return (
    <div class="token">
      <label class="token-label" for="token">
        Token
      </label>
      <input
        id="token"
        class="token-input"
        type="password"
        autocomplete="current-password"
        autocapitalize="off"
        spellcheck={false}
        placeholder="pst_…"
        value={token.value}
        onInput={({ currentTarget }) => {
          token.value = currentTarget.value.trim()
        }}
      />
      <Check label="Keep in this tab" isChecked={isKept} />
    </div>
  )
}
