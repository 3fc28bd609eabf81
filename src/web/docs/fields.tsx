// The fields of a schema, each with its type, limits and meaning.
import { sentenceOf } from '../sentence'
import { referenceOf, resolve, type Schema, type Schemas } from './description'
import { Inline } from './inline'
import { limitsOf, typeText } from './schema'

/** The type in words; a named schema is a link. */
export function TypeLink({ schema }: { readonly schema: Schema }) {
  const name = referenceOf(schema) ?? (schema.items ? referenceOf(schema.items) : null)
  const text = typeText(schema)
  return name === null ? <span>{text}</span> : <a href={`#schema-${name}`}>{text}</a>
}

type RowProps = {
  readonly name: string
  readonly schema: Schema
  readonly note?: string
  readonly isRequired: boolean
  readonly description: string
}

export const Row = ({ name, schema, note, isRequired, description }: RowProps) => (
  <div class="row">
    <dt class="row-head">
      <code class="row-name">{name}</code>
      <span class="aside">
        <TypeLink schema={schema} />
      </span>
      {note && <span class="aside">{note}</span>}
      {isRequired && <span class="required">required</span>}
    </dt>
    <dd>
      {description && (
        <p>
          <Inline text={description} />
        </p>
      )}
      {limitsOf(schema).map((limit) => (
        <p key={limit} class="limit">
          {sentenceOf(limit)}
        </p>
      ))}
    </dd>
  </div>
)

type Props = { readonly schema: Schema; readonly schemas: Schemas }

export function Fields({ schema, schemas }: Props) {
  const { properties = {}, required = [] } = resolve(schema, schemas)
  const fields = Object.entries(properties)
  if (fields.length === 0) return null
  return (
    <dl>
      {fields.map(([name, field]) => (
        <Row
          key={name}
          name={name}
          schema={field}
          isRequired={required.includes(name)}
          description={field.description ?? resolve(field, schemas).description ?? ''}
        />
      ))}
    </dl>
  )
}
