// The form that sends a request and shows the answer.
import { type Signal, useSignal } from '@preact/signals'
import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Operation, Schemas } from '../description'
import { AnswerView, StatusLine } from './answer'
import { Draft } from './draft'
import { Example } from './example'
import { firstDraft, missingIn, toRequest } from './request'
import { HeaderError, send, type TryItResponse } from './send'

type Outcome =
  | { readonly kind: 'none' | 'asking' | 'sending' }
  | { readonly kind: 'answer'; readonly answer: TryItResponse }
  | { readonly kind: 'failed'; readonly message: string }

const failure = (reason: unknown): Outcome => {
  if (reason instanceof DOMException && reason.name === 'AbortError') return { kind: 'none' }
  if (reason instanceof HeaderError) return { kind: 'failed', message: reason.message }
  const text = reason instanceof Error ? reason.message : String(reason)
  return { kind: 'failed', message: `No response: ${text}. Is plantstore still running?` }
}

export type TryItProps = {
  readonly operation: Operation
  readonly schemas: Schemas
  readonly server: URL
  readonly token: Signal<string>
}

type ButtonsProps = {
  readonly kind: Outcome['kind']
  /** The button that stays, and gets the focus of those that disappear. */
  readonly submit: RefObject<HTMLButtonElement | null>
  readonly onKeep: () => void
  readonly onCancel: () => void
}

function Buttons({ kind, submit, onKeep, onCancel }: ButtonsProps) {
  const keep = useRef<HTMLButtonElement>(null)
  const isAsking = kind === 'asking'
  // A stray Enter must not delete anything.
  useEffect(() => {
    if (isAsking) keep.current?.focus()
  }, [isAsking])
  return (
    <p class="buttons">
      <button ref={submit} type="submit" class={isAsking ? 'danger' : undefined}>
        {isAsking ? 'Delete' : 'Send request'}
      </button>
      {isAsking && (
        <button type="button" ref={keep} onClick={onKeep}>
          Keep it
        </button>
      )}
      {kind === 'sending' && (
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
      )}
    </p>
  )
}

function OutcomeView({ outcome, name }: { readonly outcome: Outcome; readonly name: string }) {
  return (
    <div class="outcome flow">
      <div role="status">
        {outcome.kind === 'sending' && <p class="hint">Waiting for the response…</p>}
        {outcome.kind === 'failed' && <p class="failed">{outcome.message}</p>}
        {outcome.kind === 'answer' && <StatusLine answer={outcome.answer} />}
      </div>
      {outcome.kind === 'answer' && <AnswerView answer={outcome.answer} name={name} />}
    </div>
  )
}

export function TryIt({ operation, schemas, server, token }: TryItProps) {
  const draft = useSignal(firstDraft(operation, schemas))
  const missing = useSignal<readonly string[]>([])
  const outcome = useSignal<Outcome>({ kind: 'none' })
  const sending = useRef<AbortController | null>(null)
  const submit = useRef<HTMLButtonElement>(null)
  const { operationId, method, needsToken } = operation
  const request = toRequest(operation, draft.value, server)
  const current = outcome.value

  const isAsking = current.kind === 'asking'

  /** Returns to the form, from a button that disappears. */
  function keepPlant(): void {
    outcome.value = { kind: 'none' }
    submit.current?.focus()
  }

  async function trySending(event: Event): Promise<void> {
    event.preventDefault()
    missing.value = missingIn(operation, draft.value)
    const [first] = missing.value
    if (first !== undefined) return document.getElementById(`${operationId}-${first}`)?.focus()
    if (method === 'DELETE' && !isAsking) {
      sending.current?.abort()
      outcome.value = { kind: 'asking' }
      return
    }
    sending.current?.abort()
    const controller = new AbortController()
    sending.current = controller
    outcome.value = { kind: 'sending' }
    const next = await send(request, needsToken ? token.value : '', controller.signal).then(
      (answer): Outcome => ({ kind: 'answer', answer }),
      failure,
    )
    if (sending.current === controller) outcome.value = next
  }

  return (
    <form
      class="try flow"
      aria-label={`Try it: ${operationId}`}
      onSubmit={trySending}
      onKeyDown={({ key }) => {
        if (key === 'Escape' && isAsking) keepPlant()
      }}
      noValidate
    >
      <h4>Try it</h4>
      <Draft operation={operation} draft={draft} missing={missing.value} />
      {needsToken && token.value === '' && (
        <p class="hint">
          This operation needs a <a href="#token">token</a>.
        </p>
      )}
      {isAsking && (
        <p role="alert">
          This deletes <code>{new URL(request.url).pathname}</code> for good. Delete it?
        </p>
      )}
      <Buttons
        kind={current.kind}
        submit={submit}
        onKeep={keepPlant}
        onCancel={() => {
          sending.current?.abort()
          submit.current?.focus()
        }}
      />
      <Example filled={{ operation, draft: draft.value, request, server }} />
      <OutcomeView outcome={current} name={operationId} />
    </form>
  )
}
