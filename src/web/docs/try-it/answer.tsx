// The answer to a request sent from the page.
import { Code } from '../code'
import type { TryItResponse } from './send'

type Props = { readonly answer: TryItResponse; readonly name: string }

/** The line that a screen reader speaks. */
export const StatusLine = ({ answer }: Pick<Props, 'answer'>) => (
  <p>
    <span class={`status status-${answer.status < 400 ? 'ok' : 'refused'}`}>
      {answer.status} {answer.statusText}
    </span>{' '}
    <span class="aside">{answer.milliseconds} ms</span>
  </p>
)

export function AnswerView({ answer, name }: Props) {
  const { headers, body } = answer
  return (
    <>
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
