// The form that sends a request and shows the answer.
import { type Signal, useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { AnswerView } from './answer'
import { Code } from './code'
import type { Operation, Schemas } from './description'
import { Draft } from './draft'
import { firstDraft, missingIn, toCurl, toRequest } from './request'
import { type Answer, HeaderError, send } from './send'

type Outcome =
  | { readonly kind: 'none' | 'sending' }
  | { readonly kind: 'answer'; readonly answer: Answer }
  | { readonly kind: 'failed'; readonly message: string }

const failure = (reason: unknown): Outcome => {
  if (reason instanceof DOMException && reason.name === 'AbortError') return { kind: 'none' }
  if (reason instanceof HeaderError) return { kind: 'failed', message: reason.message }
  const text = reason instanceof Error ? reason.message : String(reason)
  return { kind: 'failed', message: `No answer: ${text}. Is plantstore still running?` }
}

type Props = {
  readonly operation: Operation
  readonly schemas: Schemas
  readonly server: URL
  readonly token: Signal<string>
}

export function TryIt({ operation, schemas, server, token }: Props) {
  const draft = useSignal(firstDraft(operation, schemas))
  const missing = useSignal<readonly string[]>([])
  const outcome = useSignal<Outcome>({ kind: 'none' })
  const sending = useRef<AbortController | null>(null)
  const { operationId, needsToken } = operation
  const request = toRequest(operation, draft.value, server)
  const now = outcome.value

  async function trySending(event: Event): Promise<void> {
    event.preventDefault()
    missing.value = missingIn(operation, draft.value)
    const [first] = missing.value
    if (first !== undefined) return document.getElementById(`${operationId}-${first}`)?.focus()
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
      <p class="buttons">
        <button type="submit" class="send">
          Send request
        </button>
        {now.kind === 'sending' && (
          <button type="button" onClick={() => sending.current?.abort()}>
            Cancel
          </button>
        )}
      </p>
      <details>
        <summary>As a curl command</summary>
        <Code text={toCurl(request, needsToken)} label={`curl: ${operationId}`} />
      </details>
      <div class="outcome flow" aria-live="polite">
        {now.kind === 'sending' && <p class="hint">Waiting for the answer…</p>}
        {now.kind === 'failed' && <p class="failed">{now.message}</p>}
        {now.kind === 'answer' && <AnswerView answer={now.answer} name={operationId} />}
      </div>
    </form>
  )
}
