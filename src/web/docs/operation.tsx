// One operation: its parameters, body and responses, and the form to try it.
import type { Operation, Parameter, Schemas } from './description'
import { Fields, Row, TypeLink } from './fields'
import { Inline } from './inline'
import { Method } from './method'
import { Responses } from './responses'
import { TryIt, type TryItProps } from './try-it/try-it'

const Parameters = ({ parameters }: { readonly parameters: readonly Parameter[] }) => (
  <section class="part flow">
    <h4>Parameters</h4>
    <dl>
      {parameters.map(({ name, in: place, schema, description, required = false }) => (
        <Row
          key={name}
          name={name}
          schema={schema}
          note={place}
          isRequired={required}
          description={description ?? schema.description ?? ''}
        />
      ))}
    </dl>
  </section>
)

type BodyProps = {
  readonly content: NonNullable<Operation['requestBody']>['content']
  readonly schemas: Schemas
}

// The first media type represents all: only their names differ.
function Body({ content, schemas }: BodyProps) {
  const types = Object.keys(content)
  const schema = Object.values(content)[0]?.schema
  return (
    <section class="part flow">
      <h4>
        Body{' '}
        <span class="aside">
          {types.join(' or ')}, {schema && <TypeLink schema={schema} />}
        </span>
      </h4>
      {schema && <Fields schema={schema} schemas={schemas} />}
    </section>
  )
}

export function OperationSection({ operation, schemas, ...shared }: TryItProps) {
  const { operationId, method, path, summary, description, parameters, requestBody } = operation
  return (
    <article class="operation" id={operationId} aria-labelledby={`${operationId}-title`}>
      <div class="flow">
        <h3 id={`${operationId}-title`}>
          <a class="title" href={`#${operationId}`}>
            {summary ?? operationId}
          </a>
        </h3>
        <p class="endpoint">
          <Method name={method} /> <code>{path}</code>
          {!operation.needsToken && <span class="aside">No token needed</span>}
        </p>
        {description && (
          <p>
            <Inline text={description} />
          </p>
        )}
        {parameters.length > 0 && <Parameters parameters={parameters} />}
        {requestBody && <Body content={requestBody.content} schemas={schemas} />}
        <Responses operation={operation} schemas={schemas} />
      </div>
      <TryIt operation={operation} schemas={schemas} {...shared} />
    </article>
  )
}
