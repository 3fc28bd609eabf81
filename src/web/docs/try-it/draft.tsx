// The form fields of a request: its parameters and its body.
import type { Signal } from '@preact/signals'
import type { Operation, Parameter } from '../description'
import { typeText } from '../schema'
import type { Draft as Typed } from './request'

type FieldProps = {
  readonly id: string
  readonly parameter: Parameter
  readonly value: string
  readonly isMissing: boolean
  readonly onValue: (value: string) => void
}

const exampleText = ({ schema, example }: Parameter): string =>
  String(example ?? schema.examples?.[0] ?? '')

function Field({ id, parameter, value, isMissing, onValue }: FieldProps) {
  const { name, schema, required } = parameter
  const common = {
    class: 'field-input',
    id,
    value,
    required,
    'aria-invalid': isMissing,
    'aria-describedby': isMissing ? `${id}-missing` : undefined,
  }
  return (
    <div>
      <label class="field-label" for={id}>
        {name} <span class="aside">{typeText(schema)}</span>
      </label>
      {schema.enum ? (
        <select {...common} onChange={({ currentTarget }) => onValue(currentTarget.value)}>
          <option value="" />
          {schema.enum.map(String).map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      ) : (
        <input
          {...common}
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          placeholder={exampleText(parameter)}
          onInput={({ currentTarget }) => onValue(currentTarget.value)}
        />
      )}
      {isMissing && (
        <p id={`${id}-missing`} class="failed">
          {name} is required
        </p>
      )}
    </div>
  )
}

type Props = {
  readonly operation: Operation
  readonly draft: Signal<Typed>
  readonly missing: readonly string[]
}

export function Draft({ operation, draft, missing }: Props) {
  const { operationId, parameters, requestBody } = operation
  const { values, mediaType, body } = draft.value
  const types = Object.keys(requestBody?.content ?? {})
  const change = (change: Partial<Typed>) => {
    draft.value = { ...draft.value, ...change }
  }
  return (
    <>
      {parameters.map((parameter) => (
        <Field
          key={parameter.name}
          id={`${operationId}-${parameter.name}`}
          parameter={parameter}
          value={values[parameter.name] ?? ''}
          isMissing={missing.includes(parameter.name) && !values[parameter.name]}
          onValue={(value) => change({ values: { ...values, [parameter.name]: value } })}
        />
      ))}
      {types.length > 1 && (
        <div>
          <label class="field-label" for={`${operationId}-media-type`}>
            Content-Type
          </label>
          <select
            id={`${operationId}-media-type`}
            class="field-input"
            value={mediaType}
            onChange={({ currentTarget }) => change({ mediaType: currentTarget.value })}
          >
            {types.map((type) => (
              <option key={type}>{type}</option>
            ))}
          </select>
        </div>
      )}
      {requestBody && (
        <div>
          <label class="field-label" for={`${operationId}-request-body`}>
            Body <span class="aside">{mediaType}</span>
          </label>
          <textarea
            id={`${operationId}-request-body`}
            class="field-input"
            spellcheck={false}
            autocomplete="off"
            autocapitalize="off"
            rows={Math.min(body.split('\n').length + 1, 16)}
            value={body}
            onInput={({ currentTarget }) => change({ body: currentTarget.value })}
          />
        </div>
      )}
    </>
  )
}
