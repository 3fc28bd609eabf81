// The responses of an operation: successes with an example, errors as a list.

import { sentenceOf } from '../sentence'
import { Code } from './code'
import {
  type Headers as Described,
  type Media,
  type Operation,
  ownHeaders,
  type Response,
  type Schemas,
} from './description'
import { TypeLink } from './fields'
import { Inline } from './inline'
import { writeExact } from './json-text'
import { exampleOf } from './schema'

/** A status; in words if it covers several, as 4XX does. */
const statusText = (status: string): string => (status.endsWith('XX') ? 'others' : status)

const isSuccess = (status: string): boolean => status.startsWith('2') || status.startsWith('3')

function exampleText(type: string, { schema }: Media, schemas: Schemas): string {
  if (!type.includes('json')) return String(schema?.examples?.[0] ?? '')
  const value = schema && exampleOf(schema, schemas)
  const text = value === undefined ? '' : writeExact(value)
  return text === '{}' ? '' : text
}

const Headers = ({ headers }: { readonly headers: Described }) => (
  <>
    {Object.entries(headers).map(([name, { description = '' }]) => (
      <p key={name} class="limit">
        <code>{name}</code> <Inline text={description} />
      </p>
    ))}
  </>
)

type SuccessProps = {
  readonly status: string
  readonly response: Response
  readonly schemas: Schemas
}

function Success({ status, response, schemas }: SuccessProps) {
  const [media] = Object.entries(response.content ?? {})
  const text = media ? exampleText(media[0], media[1], schemas) : ''
  return (
    <div class="flow">
      <p>
        <span class="status status-ok">{status}</span> <Inline text={response.description} />{' '}
        {media?.[1].schema && (
          <span class="aside">
            {media[0]}, <TypeLink schema={media[1].schema} />
          </span>
        )}
      </p>
      <Headers headers={ownHeaders(response)} />
      {text !== '' && <Code text={text} label={`Example of ${status}`} />}
    </div>
  )
}

// An error number per line, if they are described separately.
function Refusal({ status, response }: Omit<SuccessProps, 'schemas'>) {
  const [media] = Object.values(response.content ?? {})
  const numbers = Object.entries(media?.examples ?? {})
  return (
    <div class="refusal">
      <dt>
        <span class="status status-refused">{statusText(status)}</span>
      </dt>
      <dd>
        {numbers.length === 0 && (
          <p>
            <Inline text={response.description} />
          </p>
        )}
        {numbers.map(([number, { summary = '' }]) => (
          <p key={number}>
            <code>{number}</code> <Inline text={sentenceOf(summary)} />
          </p>
        ))}
        <Headers headers={ownHeaders(response)} />
      </dd>
    </div>
  )
}

type Props = { readonly operation: Operation; readonly schemas: Schemas }

export function Responses({ operation, schemas }: Props) {
  const all = Object.entries(operation.responses)
  const refusals = all.filter(([status]) => !isSuccess(status))
  return (
    <section class="part flow">
      <h4>Responses</h4>
      {all
        .filter(([status]) => isSuccess(status))
        .map(([status, response]) => (
          <Success key={status} status={status} response={response} schemas={schemas} />
        ))}
      {refusals.length > 0 && (
        <details>
          <summary>Errors: {refusals.map(([status]) => statusText(status)).join(', ')}</summary>
          <dl>
            {refusals.map(([status, response]) => (
              <Refusal key={status} status={status} response={response} />
            ))}
          </dl>
        </details>
      )}
      <Headers headers={operation.sharedHeaders} />
    </section>
  )
}
