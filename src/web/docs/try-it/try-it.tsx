// The form that sends a request and shows the answer.
import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { Operation, Schemas } from '../description'
import { AnswerView, StatusLine } from './answer'
import { Draft } from './draft'
import { Example } from './example'
import type { Language } from './languages'
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
  return { kind: 'failed', message: `No answer: ${text}. Is plantstore still running?` }
}

export type TryItProps = {
  readonly operation: Operation
  readonly schemas: Schemas
  readonly server: URL
  readonly token: Signal<string>
  readonly language: Signal<Language>
}

export function TryIt({ operation, schemas, server, token, language }: TryItProps) {
  const draft = useSignal(firstDraft(operation, schemas))
  const missing = useSignal<readonly string[]>([])
  const outcome = useSignal<Outcome>({ kind: 'none' })
  const sending = useRef<AbortController | null>(null)
  const keep = useRef<HTMLButtonElement>(null)
  const { operationId, method, needsToken } = operation
  const request = toRequest(operation, draft.value, server)
  const current = outcome.value

  const isAsking = current.kind === 'asking'
  // A stray Enter must not delete anything.
  useEffect(() => {
    if (isAsking) keep.current?.focus()
  }, [isAsking])

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
    <form class="try flow" aria-label={`Try it: ${operationId}`} onSubmit={trySending} noValidate>
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
      <p class="buttons">
        <button type="submit" class={isAsking ? 'danger' : undefined}>
          {isAsking ? 'Delete' : 'Send request'}
        </button>
        {isAsking && (
          <button
            type="button"
            ref={keep}
            onClick={() => {
              outcome.value = { kind: 'none' }
            }}
          >
            Keep it
          </button>
        )}
        {current.kind === 'sending' && (
          <button type="button" onClick={() => sending.current?.abort()}>
            Cancel
          </button>
        )}
      </p>
      <Example filled={{ operation, draft: draft.value, request, server }} language={language} />
      <div class="outcome flow">
        <div role="status">
          {current.kind === 'sending' && <p class="hint">Waiting for the answer…</p>}
          {current.kind === 'failed' && <p class="failed">{current.message}</p>}
          {current.kind === 'answer' && <StatusLine answer={current.answer} />}
        </div>
        {current.kind === 'answer' && <AnswerView answer={current.answer} name={operationId} />}
      </div>
    </form>
  )
}
