import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { Check } from './controls/check.tsx'
import { Field } from './controls/field.tsx'
import { Leaf } from './controls/leaf.tsx'
import { Modal } from './controls/modal.tsx'
import type { Session } from './session.ts'

function TokenForm({ session, hint }: { readonly session: Session; readonly hint: string }) {
  const text = useSignal('')
  const isBusy = useSignal(false)
  return (
    <form
      onSubmit={async (event) => {
        event.preventDefault()
        if (isBusy.value) return
        isBusy.value = true
        await session.connect(text.value)
        isBusy.value = false
      }}
    >
      <Field
        label="Token"
        name="token"
        text={text}
        error={session.refusal.value ?? undefined}
        hint={hint}
        placeholder="pst_…"
        isSecret
      />
      <Check label="Keep in this tab" isChecked={session.keepsToken} />
      <div class="actions">
        <button type="submit" class="primary" aria-disabled={isBusy.value}>
          Connect
        </button>
      </div>
    </form>
  )
}

/** The page before a token is entered. */
export function Welcome({ session }: { readonly session: Session }) {
  const main = useRef<HTMLElement>(null)
  // Not `autofocus`: browsers apply it only once, and this page comes back after a disconnect.
  useEffect(() => main.current?.querySelector('input')?.focus(), [])
  return (
    <main class="welcome" ref={main}>
      <div class="card">
        <Leaf />
        <h1>plantstore</h1>
        <p>Browse, edit, import and export the plants in this store.</p>
        <TokenForm
          session={session}
          hint="It begins with pst_. plantstore printed one when it first started."
        />
        <p class="foot">
          No token? Ask whoever runs plantstore, or on its host:{' '}
          <code>plantstore token create NAME</code>
          <br />
          For programs: <a href="docs">API reference</a>
        </p>
      </div>
    </main>
  )
}

type ReconnectProps = { readonly session: Session; readonly onForget: () => void }

/** Asks for another token in a dialog over the page. */
export const Reconnect = ({ session, onForget }: ReconnectProps) => (
  <Modal label="The token is no longer accepted">
    <h2>The token is no longer accepted</h2>
    <p>Enter another token to continue. Nothing you typed is lost, and a running import resumes.</p>
    <TokenForm session={session} hint="Without the box below, reloading forgets it." />
    <button type="button" class="quiet" onClick={onForget}>
      Forget everything and start over
    </button>
  </Modal>
)
