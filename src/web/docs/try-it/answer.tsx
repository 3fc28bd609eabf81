// The answer to a request sent from the page.
import { Code } from '../code'
import type { TryItResponse } from './send'

type Props = { readonly answer: TryItResponse; readonly name: string }

export function AnswerView({ answer, name }: Props) {
  const { status, statusText, headers, body, milliseconds } = answer
  const kind = status < 400 ? 'ok' : 'refused'
  return (
    <>
      <p>
        <span class={`status status-${kind}`}>
          {status} {statusText}
        </span>{' '}
        <span class="aside">{milliseconds} ms</span>
      </p>
      {body === '' ? (
        <p class="hint">No body.</p>
      ) : (
        <Code text={body} label={`Response: ${name}`} scrolls />
      )}
      <details>
        <summary>Headers</summary>
        <Code
          text={headers.map(([name, value]) => `${name}: ${value}`).join('\n')}
          label={`Headers: ${name}`}
        />
      </details>
    </>
  )
}
