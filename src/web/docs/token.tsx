// The token field. The token is kept in memory only.
import type { Signal } from '@preact/signals'

type Props = { readonly token: Signal<string> }

export const TokenField = ({ token }: Props) => (
  <div class="token">
    <label class="token-label" for="token">
      Token
    </label>
    <input
      id="token"
      class="token-input masked"
      autocomplete="off"
      autocapitalize="off"
      spellcheck={false}
      placeholder="pst_…"
      aria-describedby="token-note"
      value={token.value}
      onInput={({ currentTarget }) => {
        token.value = currentTarget.value.trim()
      }}
    />
    <span id="token-note" class="token-note aside">
      Kept only until you leave this page.
    </span>
  </div>
)
